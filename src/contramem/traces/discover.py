"""Lists the coding-agent sessions of this user on this machine, by name and size. None is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class SessionFolder(NamedTuple):
    """Sessions in one folder: a project of Claude Code or Gemini CLI, or a month of Codex."""

    agent: str
    folder: Path
    sessions: int
    bytes: int
    newest: float
    """Seconds since 1970."""


def discover_sessions(home: Path, environment: Mapping[str, str] = os.environ) -> list[SessionFolder]:
    """The projects of Claude Code and Gemini CLI and the months of Codex, the newest first."""
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    codex = Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"
    folders = [
        *_folders("claude-code", claude, "*", "*.jsonl"),
        *_folders("codex", codex, "*/*", "**/rollout-*.jsonl*"),
        *_folders("gemini-cli", home / ".gemini" / "tmp", "*", "chats/session-*.json*"),
    ]
    return sorted(folders, key=lambda folder: (-folder.newest, str(folder.folder)))


def _folders(agent: str, root: Path, folders: str, files: str) -> Iterator[SessionFolder]:
    for folder in sorted(root.glob(folders)) if root.is_dir() else ():
        sizes = [path.stat() for path in folder.glob(files) if path.is_file() and not path.name.startswith("agent-")]
        if sizes:
            newest = max(size.st_mtime for size in sizes)
            yield SessionFolder(agent, folder, len(sizes), sum(size.st_size for size in sizes), newest)
