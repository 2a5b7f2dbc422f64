"""Putting the hook into the settings of Claude Code or Codex, beside whatever hooks are there."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from contramem.errors import UsageError

Client: TypeAlias = Literal["claude-code", "codex"]
Change: TypeAlias = Literal["added", "updated", "unchanged"]

MODULE = "contramem.inject.hook"
TIMEOUT_S = 30
Events: TypeAlias = Mapping[str, str | None]
_BOTH: Events = {"SessionStart": None, "UserPromptSubmit": None, "PreToolUse": "*"}
RECORDED: Events = {"PostToolUse": "*"}
"""What the hook listens to as well, when sessions are recorded."""
EVENTS: Mapping[Client, Events] = {
    "claude-code": {**_BOTH, "PostToolUseFailure": "*", "PostToolBatch": None},
    "codex": _BOTH,
}
"""The events of each client that the hook answers, with a matcher where the event takes one."""


@dataclass(frozen=True)
class InstalledHook:
    """What was written where."""

    path: Path
    command: str
    changes: dict[str, Change]
    """By event."""


def settings_path(client: Client, project: Path) -> Path:
    """Where the hooks of a project are set; in a home folder, those of the user."""
    return project / (".claude/settings.json" if client == "claude-code" else ".codex/hooks.json")


def hook_command(client: Client, bank: Path, options: Mapping[str, str | None]) -> str:
    """The command line of the hook, by this Python: a client starts it wherever it likes, with whatever PATH."""
    given = [word for name, value in options.items() if value for word in (name, value)]
    if "PostToolBatch" in EVENTS[client]:
        given.append("--batches")
    return shlex.join([sys.executable, "-m", MODULE, "--bank", str(bank.resolve()), *given])


def install(path: Path, command: str, events: Events) -> InstalledHook:
    """Have `command` run at each event, once. Other settings and hooks stay; a second time changes nothing."""
    settings = _read(path)
    hooks = _part(settings, "hooks", dict, path)
    changes = {event: _place(_part(hooks, event, list, path), command, matcher) for event, matcher in events.items()}
    if set(changes.values()) != {"unchanged"}:
        _write(path, settings)
    return InstalledHook(path, command, changes)


def _place(groups: list[Any], command: str, matcher: str | None) -> Change:
    for entry in (entry for group in groups if isinstance(group, dict) for entry in group.get("hooks") or ()):
        if isinstance(entry, dict) and _is_ours(str(entry.get("command", ""))):
            before = entry["command"]
            entry["command"] = command
            return "unchanged" if before == command else "updated"
    ours = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    groups.append({**({"matcher": matcher} if matcher else {}), "hooks": [ours]})
    return "added"


def _is_ours(command: str) -> bool:
    return MODULE in command or "contramem hook" in command


def _part(settings: dict[str, Any], name: str, kind: type, path: Path) -> Any:
    part = settings.setdefault(name, kind())
    if not isinstance(part, kind):
        raise UsageError(f"{path}: {name!r} is not what it should be. Mend the file first; nothing was changed.")
    return part


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error}). Nothing was changed.") from error
    if not isinstance(settings, dict):
        raise UsageError(f"{path}: is no settings file. Nothing was changed.")
    return settings


def _write(path: Path, settings: dict[str, Any]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(path.resolve())  # through a link, so that settings kept elsewhere stay there
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from error
