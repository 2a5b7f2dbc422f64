"""The command line options of a hook, and its files, in a folder that only this user can write to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from contramem.errors import UsageError
from contramem.inject.hook.client import address_path, digest, parse_options, private_folder, setup_name

if TYPE_CHECKING:
    from contramem.inject.enforcement import Level  # not imported: every event would wait for it

HookHold: TypeAlias = Literal["attended", "always", "never"]
"""Which sessions may be held up: a call that would do harm is held, and what is open is asked for before the end.

`attended`: sessions that a person attends, and those of Codex. Sub-agents and sessions of `claude -p` may have a limit
(`--max-turns`, `--max-budget-usd`) of which hooks are not told, and a held call would be lost to it. `always`: those of
`claude -p` too, because they have no limit. `never`: none. Where nothing is held, a warning comes with the result."""

KEPT_S = 3 * 24 * 3600
"""Files unchanged for longer are removed."""
AGAIN_S = 300
"""A broken setup is tried again after this time, or when the bank changes."""
START_S = 60
"""If a resident process does not listen after this time, it is started again."""


@dataclass(frozen=True)
class HookOptions:
    """The options of the command."""

    bank: str
    state: Path | None = None
    """The folder for the hook's files. None means a private folder of this user."""
    profile: str | None = None
    log: Path | None = None
    """An inject log in which each session is a run."""
    record: Path | None = None
    """A file for recording sessions as traces that `contramem build` reads."""
    hold: HookHold = "attended"
    enforce: Level = "remind"

    @classmethod
    def parse(cls, arguments: Sequence[str]) -> HookOptions:
        """The options of a command line."""
        try:
            options = parse_options(arguments)
        except ValueError as error:
            raise UsageError(str(error)) from error
        state, log, record = (
            Path(options[name]) if name in options else None for name in ("--state", "--log", "--record")
        )
        hold = options.get("--hold", "attended")
        enforce = cast("Level", options.get("--enforce", "remind"))  # `Memory` refuses an unknown one
        if hold not in get_args(HookHold):
            raise UsageError(f"--hold is one of {', '.join(get_args(HookHold))}; it is {hold!r}.")
        return cls(options["--bank"], state, options.get("--profile"), log, record, cast(HookHold, hold), enforce)

    @property
    def named(self) -> dict[str, str]:
        """The options as on a command line, by name."""
        return {
            f"--{name}": str(value)
            for name, value in vars(self).items()
            if value not in (None, "", "attended", "remind")
        }

    @property
    def arguments(self) -> list[str]:
        return [word for pair in self.named.items() for word in pair]


class HookPlace:
    """The files of one setup (the current version of the bank, profile and log). A changed bank is another setup."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    @classmethod
    def of(cls, options: HookOptions) -> HookPlace:
        try:
            folder = options.state or Path(private_folder())
        except PermissionError as error:
            raise UsageError(str(error)) from error
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(folder, setup_name(options.named))

    @property
    def address(self) -> Path:
        """The file with the address of the resident process."""
        return Path(address_path(str(self.folder), self.name))

    @property
    def counts(self) -> Path:
        """The file with token counts of texts that were shown."""
        return self.folder / "tokens"

    @property
    def _starting(self) -> Path:
        return self.folder / f"starting-{self.name}"

    @property
    def _problem(self) -> Path:
        return self.folder / f"problem-{self.name}.txt"

    def journal(self, session_id: str) -> Path:
        return self.folder / f"session-{digest(self.name + session_id)}.jsonl"

    def claim_start(self) -> bool:
        """Whether this process should start the resident one. True for only one of several that ask at once."""
        if self.start_age() > START_S:
            self._starting.unlink(missing_ok=True)
        return _create(self._starting)

    def start_age(self) -> float:
        """How many seconds ago a start was claimed."""
        return time() - _read_change_time(self._starting)

    def end_start(self) -> None:
        """Record that the resident process listens or has exited."""
        self._starting.unlink(missing_ok=True)

    def report(self, problem: str) -> None:
        """Record why there is no guidance; empty if there is."""
        if problem:
            write_whole(self._problem, problem)
        else:
            self._problem.unlink(missing_ok=True)

    def problem(self) -> str:
        """Why there is no guidance, if that was recorded recently."""
        if time() - _read_change_time(self._problem) > AGAIN_S:
            return ""
        try:
            return self._problem.read_text(encoding="utf-8")
        except OSError:
            return ""

    def is_first_warning(self, session_id: str) -> bool:
        """Whether to warn the user of this session. True once, for only one of several processes that ask at once."""
        return _create(self.folder / f"warned-{digest(self.name + session_id)}")

    def clear_old(self) -> None:
        """Remove the files of old sessions and old banks."""
        before = time() - KEPT_S
        for kind in ("address-*", "hook-*", "problem-*", "session-*", "starting-*", "tokens", "warned-*"):
            for path in self.folder.glob(kind):
                if _read_change_time(path) < before:
                    path.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically, readable only for this user: another process may be reading it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def _create(path: Path) -> bool:
    """Create a file. Returns False if it exists."""
    try:
        path.open("x").close()
    except OSError:
        return False
    return True


def _read_change_time(path: Path) -> float:
    """The modification time of a file; 0 if it does not exist."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
