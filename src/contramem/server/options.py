"""The options of a server: where its banks are, where it listens, and who has access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from contramem.errors import UsageError
from contramem.inject.enforcement import Level

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
DEFAULT_PROJECT = "default"


@dataclass(frozen=True)
class ProjectOptions:
    """One bank, and the runs to browse with it."""

    bank: str
    runs: tuple[Path, ...] = ()
    log: Path | None = None
    enforce: Level = "remind"
    """What happens to calls that go against a guard."""


@dataclass(frozen=True)
class ServerOptions:
    """How to serve. The defaults are safe on a laptop: loopback only, values masked, no token needed."""

    projects: Mapping[str, ProjectOptions]
    host: str = "127.0.0.1"
    port: int = 8321
    tokens: Path | None = None
    """File of hashed tokens. None: anyone who can reach the loopback address may do everything."""
    allowed_hosts: tuple[str, ...] = ()
    """Names that a reverse proxy serves under. Other machines can reach those, so they need tokens."""
    show_values: bool = False
    """Show recorded values instead of placeholders."""
    state: Path | None = None
    """Folder for live runs and the run index. None: next to each SQLite store, or the working directory."""
    requests_per_minute: int = 60_000
    """Per client: a token, or an address without one."""
    max_body_bytes: int = 1 << 20
    audit: Path | None = None
    """Append who changed what to this file, in addition to the ledger."""
    hosts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", LOOPBACK | {self.host} | set(self.allowed_hosts))
        exposed = [f"--host {self.host}"] if self.host not in LOOPBACK else []
        exposed += [f"--allow-host {name}" for name in self.allowed_hosts if name not in LOOPBACK]
        if exposed and self.tokens is None:
            raise UsageError(
                f"{exposed[0]} lets other machines in, so it needs --tokens FILE. "
                "`contramem serve token add NAME --tokens FILE` makes a token."
            )
        if exposed and self.show_values:
            raise UsageError(f"--show-values shows recorded values on this machine only, so it excludes {exposed[0]}.")
