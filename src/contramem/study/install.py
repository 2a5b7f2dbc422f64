"""Put the Agent Skill and the MCP server of an author where a coding agent finds them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from contramem.errors import UsageError
from contramem.whole_file import replacing

AuthorClient: TypeAlias = Literal["claude-code", "codex", "cursor"]
SKILL_NAME = "learn-from-runs"
SERVER_NAME = "contramem-author"
TOOL_TIMEOUT_S = 600
"""The first tool call reads the runs. Codex waits only a minute by default."""
_SKILLS: dict[AuthorClient, str] = {
    "claude-code": ".claude/skills",
    "codex": ".agents/skills",
    "cursor": ".cursor/skills",
}
_SERVERS: dict[AuthorClient, str] = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
}


STARTS: dict[AuthorClient, str] = {
    "claude-code": "Now run: claude 'learn from these runs'",
    "codex": "Now run: codex 'learn from these runs'",
    "cursor": "Now say to Cursor: learn from these runs.",
}
"""What to do next."""


@dataclass(frozen=True)
class InstalledAuthor:
    """What was written, and where."""

    skill: Path
    server: Path


def install_author(client: AuthorClient, project: Path, skill: str, runs: Path, store: str) -> InstalledAuthor:
    """Write the skill and the server into `project`. Other skills and servers stay; doing it again changes nothing."""
    path = project / _SKILLS[client] / SKILL_NAME / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, skill)
    arguments = ["-m", "contramem", "mcp", "--author", str(runs.resolve()), "--bank", store]
    server = project / _SERVERS[client]
    server.parent.mkdir(parents=True, exist_ok=True)
    before = server.read_text(encoding="utf-8") if server.exists() else ""
    write = _in_toml if client == "codex" else _in_json
    _write(server, write(before, arguments, server))
    return InstalledAuthor(path, server)


def _in_json(before: str, arguments: Sequence[str], path: Path) -> str:
    try:
        settings: dict[str, Any] = json.loads(before or "{}")
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}: not valid JSON ({error}). Fix it, then install again.") from None
    settings.setdefault("mcpServers", {})[SERVER_NAME] = {"command": sys.executable, "args": list(arguments)}
    return json.dumps(settings, indent=2) + "\n"


def _in_toml(before: str, arguments: Sequence[str], path: Path) -> str:
    """Replace the server's table, or append it; the rest of the file stays as it is, comments included."""
    table = re.compile(rf"\n?\[mcp_servers\.{SERVER_NAME}\]\n(?:(?!\[).*\n?)*")
    block = (
        f"[mcp_servers.{SERVER_NAME}]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(list(arguments))}\n"
        f"startup_timeout_sec = 60\ntool_timeout_sec = {TOOL_TIMEOUT_S}\n"
    )
    rest = table.sub("", before).rstrip()
    return f"{rest}\n\n{block}" if rest else block


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
