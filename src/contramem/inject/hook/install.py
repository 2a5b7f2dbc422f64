"""Installs the hook in the settings of Claude Code or Codex, leaving other hooks alone, and uninstalls it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from contramem.errors import UsageError

Client: TypeAlias = Literal["claude-code", "codex"]
Change: TypeAlias = Literal["added", "updated", "unchanged", "removed"]

MODULE = "contramem.inject.hook"
CLIENT = "import sys; sys.path.append(sys.argv.pop(1)); from contramem.inject.hook.client import main; main()"
"""Run with `-I -S`, which halves the start time of Python, and with the path of contramem as an argument. Not a script
path: if the script is missing, Python exits with 2, which Claude Code and Codex treat as a block."""
TIMEOUT_S = 30
Events: TypeAlias = Mapping[str, str | None]
_BOTH: Events = {"SessionStart": None, "UserPromptSubmit": None, "PreToolUse": "*", "PostToolUse": "*", "Stop": None}
EVENTS: Mapping[Client, Events] = {
    "claude-code": {**_BOTH, "SubagentStart": None, "PostToolUseFailure": "*", "PostToolBatch": None},
    "codex": _BOTH,
}
"""The events that the hook answers, by client, with a matcher if the event takes one."""
SHARED = ".claude/settings.json"
LOCAL = ".claude/settings.local.json"
CODEX = ".codex/hooks.json"


@dataclass(frozen=True)
class InstalledHook:
    """The result of an installation."""

    path: Path
    command: str
    changes: dict[str, Change]
    """By event."""


def settings_path(client: Client, project: Path, shared: bool = False) -> Path:
    """The settings file for the hooks of a project or, in a home folder, of the user. Claude Code has a file that teams
    commit and a personal one."""
    if client == "codex":
        return project / CODEX
    return project / (SHARED if shared else LOCAL)


def hook_command(bank: Path, options: Mapping[str, str | None]) -> str:
    """The command line of the hook, with the path of this Python, because clients use any working folder and PATH."""
    packages = str(Path(__file__).parents[3])
    python = [sys.executable, "-I", "-S", "-c", CLIENT, packages]
    return shlex.join([*python, "--bank", str(bank.resolve()), *_option_arguments(options)])


def shared_command(bank: Path, project: Path, options: Mapping[str, str | None]) -> str:
    """The command line for settings that a team commits, without paths of this machine."""
    try:
        inside = bank.resolve().relative_to(project.resolve())
    except ValueError:
        raise UsageError(f"{bank}: settings that a team shares can name a bank inside {project} only.") from None
    rest = shlex.join(_option_arguments(options))
    return f'contramem hook --bank "$CLAUDE_PROJECT_DIR"/{shlex.quote(str(inside))} {rest}'.strip()


def _option_arguments(options: Mapping[str, str | None]) -> list[str]:
    return [word for name, value in options.items() if value for word in (name, value)]


def install(path: Path, command: str, events: Events) -> InstalledHook:
    """Register `command` for each event. Other settings and hooks are kept; a second install changes nothing."""
    settings = _read(path)
    hooks = _part(settings, "hooks", dict, path)
    changes = {event: _place(_part(hooks, event, list, path), command, matcher) for event, matcher in events.items()}
    if set(changes.values()) != {"unchanged"}:
        _write(path, settings)
    return InstalledHook(path, command, changes)


def uninstall(path: Path) -> dict[str, Change]:
    """Remove our hook from the settings at `path`, and keep everything else. Returns what was removed, by event."""
    settings = _read(path)
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return {}
    changes: dict[str, Change] = {}
    for event, groups in list(hooks.items()):
        rest = [group for group in map(_without_ours, groups) if group] if isinstance(groups, list) else groups
        if rest != groups:
            changes[event] = "removed"
            hooks[event] = rest
        if not rest:
            del hooks[event]
    if changes:
        if not hooks:
            del settings["hooks"]
        _write(path, settings)
    return changes


def find_installed_commands(path: Path) -> dict[str, str]:
    """Our commands in the settings at `path`, by event."""
    hooks = _read(path).get("hooks")
    if not isinstance(hooks, dict):
        return {}
    return {
        event: str(entry["command"])
        for event, groups in hooks.items()
        for entry in _entries(groups if isinstance(groups, list) else [])
        if _is_ours(entry)
    }


def _entries(groups: list[Any]) -> Iterator[dict[str, Any]]:
    for group in groups:
        for entry in (group.get("hooks") or ()) if isinstance(group, dict) else ():
            if isinstance(entry, dict):
                yield entry


def _without_ours(group: Any) -> Any:
    """The group without our hook; None if nothing else was in it."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    rest = [entry for entry in group["hooks"] if not (isinstance(entry, dict) and _is_ours(entry))]
    if len(rest) == len(group["hooks"]):
        return group
    return {**group, "hooks": rest} if rest else None


def _place(groups: list[Any], command: str, matcher: str | None) -> Change:
    for entry in _entries(groups):
        if _is_ours(entry):
            before = entry["command"]
            entry["command"] = command
            return "unchanged" if before == command else "updated"
    ours = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    groups.append({**({"matcher": matcher} if matcher else {}), "hooks": [ours]})
    return "added"


def _is_ours(entry: Mapping[str, Any]) -> bool:
    command = str(entry.get("command", ""))
    return MODULE in command or "contramem hook" in command


def _part(settings: dict[str, Any], name: str, kind: type, path: Path) -> Any:
    part = settings.setdefault(name, kind())
    if not isinstance(part, kind):
        raise UsageError(f"{path}: {name!r} is not what it should be. Fix the file first; nothing was changed.")
    return part


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error}). Nothing was changed.") from error
    if not isinstance(settings, dict):
        raise UsageError(f"{path}: is not a settings file. Nothing was changed.")
    return settings


def _write(path: Path, settings: dict[str, Any]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(path.resolve())  # resolved, so that a symbolic link stays a link
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from error
