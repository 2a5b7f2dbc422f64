"""Which hooks Codex trusts. It skips the others and tells nobody; the user trusts them in its `/hooks`.

Codex keeps this in its own configuration, by file, event and position: `hooks.state."FILE:stop:0:0".trusted_hash`. The
hash is of the hook as it was then, so a hook that was changed later may be skipped although it is listed there.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path


def find_untrusted(hooks_file: Path, events: Iterable[str]) -> list[str]:
    """Those of `events` for which Codex was never told to trust a hook of this file."""
    trusted = _trusted_keys(codex_home() / "config.toml")
    start = str(hooks_file.resolve())
    return [event for event in events if not any(key.startswith(f"{start}:{_snake_case(event)}:") for key in trusted)]


def codex_home() -> Path:
    """The folder of Codex's own configuration."""
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _trusted_keys(config: Path) -> list[str]:
    try:
        hooks = tomllib.loads(config.read_text(encoding="utf-8")).get("hooks")
    except (OSError, ValueError):  # no Codex here, or a configuration that it cannot read either
        return []
    state = hooks.get("state") if isinstance(hooks, dict) else None
    entries = state.items() if isinstance(state, dict) else ()
    return [key for key, entry in entries if isinstance(entry, dict) and entry.get("trusted_hash")]


def _snake_case(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
