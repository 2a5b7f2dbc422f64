"""The real Claude Code and the real Codex as authors, with a provider on this machine that replies from a script.

Both come from npm: `npm install @anthropic-ai/claude-code @openai/codex`; those on the PATH are used, and
CONTRAMEM_CLIENTS may name a folder with them (`node_modules/.bin`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.inject.adapters.conftest import FakeAnthropic
from tests.inject.adapters.test_hook_clients import FakeResponses
from tests.study.office import NOTE_RULE, write_office

from contramem.bank.store import open_store
from contramem.cli import cli

pytestmark = pytest.mark.slow
pytest.importorskip("mcp", reason="the author's server is an extra: pip install 'contramem[author]'")
pytest.importorskip("duckdb", reason="the author's tables are an extra: pip install 'contramem[author]'")

CARD = {"title": "Assign large notes", "when": "A large note.", "rule": "Assign it above 500.", "guards": [NOTE_RULE]}
SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("show_kinds", {}),
    ("explain_runs", {"function": "Office.create_note"}),
    ("query_runs", {"sql": "SELECT count(*) AS runs FROM runs"}),
    ("try_guard", {"guard": NOTE_RULE, "confirm": True}),
    ("propose_card", CARD),
]
WISH = "Learn from these runs."


def find_client(name: str) -> str:
    folders = os.pathsep.join([os.environ.get("CONTRAMEM_CLIENTS", ""), os.environ.get("PATH", "")])
    path = shutil.which(name, path=folders)
    if path is None or subprocess.run([path, "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"{name} is not installed: npm install @anthropic-ai/claude-code @openai/codex")
    return path


def install(client: str, project: Path) -> None:
    runs = write_office(project.parent)
    arguments = ["author", "install", client, "--runs", runs, "--bank", str(project / "bank.db")]
    result = CliRunner().invoke(cli, [*arguments, "--project", str(project)])
    assert result.exit_code == 0, result.output


def run(command: list[str], project: Path, **more: str) -> str:
    names = ("PYTHONPATH", "PYTHONPYCACHEPREFIX")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", **{n: os.environ[n] for n in names if n in os.environ}, **more}
    done = subprocess.run(
        command, cwd=project, env=env, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_what_was_learned(project: Path, answers: list[str]) -> None:
    kinds, differences, rows, tried, proposed = answers
    assert "careful" in kinds
    assert "; explains " in differences
    assert "60" in rows
    assert "proven" in tried
    assert "accepted" in proposed
    with open_store(project / "bank.db") as store:
        assert [card.title for card in store.bank().skills] == ["Assign large notes"]
        assert [entry.decision.operation for entry in store.ledger()] == ["ADD"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    return tmp_path / "project"


class ScriptedAnthropic(FakeAnthropic):
    """Uses the skill, waits until the server is there, then calls the author's tools in the order of the script."""

    def __init__(self) -> None:
        super().__init__()
        self._left = list(SCRIPT)

    def stream(self, asked: dict[str, Any]) -> bytes:
        offered = {tool["name"] for tool in asked.get("tools", ())}
        number = len(self.requests)
        if offered:
            self.replies = [[self._call(number, offered)]] if number < 40 else []
        return super().stream(asked)

    def _call(self, number: int, offered: set[str]) -> dict[str, Any]:
        call = {"type": "tool_use", "id": f"toolu_{number}"}
        if number == 0:
            return call | {"name": "Skill", "input": {"skill": "learn-from-runs"}}
        if "mcp__contramem-author__show_kinds" not in offered:
            return call | {"name": "WaitForMcpServers", "input": {}}
        if self._left:
            tool, given = self._left.pop(0)
            return call | {"name": f"mcp__contramem-author__{tool}", "input": given}
        return {"type": "text", "text": "done"}


def test_claude_code_finds_the_skill_calls_the_tools_and_its_card_is_in_the_bank(project: Path) -> None:
    claude = find_client("claude")
    install("claude-code", project)
    provider, home = ScriptedAnthropic(), project.parent / "home"
    try:
        run(
            [claude, "-p", WISH, "--mcp-config", ".mcp.json", "--allowedTools", "Skill,mcp__contramem-author"],
            project,
            ANTHROPIC_BASE_URL=provider.url,
            ANTHROPIC_API_KEY="sk-ant-fake-not-a-key",
            HOME=str(home),
            CLAUDE_CONFIG_DIR=str(home / ".claude"),
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_TELEMETRY="1",
        )
    finally:
        provider.close()
    offered = {tool["name"] for tool in provider.requests[-1]["tools"]}
    assert {f"mcp__contramem-author__{tool}" for tool, _ in SCRIPT} <= offered
    assert "learn-from-runs" in json.dumps(provider.requests[0]), "the skill is listed"
    assert "# Learn from recorded runs" in json.dumps(provider.requests[1]["messages"]), "and read when it is used"
    check_what_was_learned(project, provider.told(-1)[-len(SCRIPT) :])


class ScriptedResponses(FakeResponses):
    """Calls the author's tools in the order of the script."""

    def __init__(self) -> None:
        super().__init__()
        self._left = list(SCRIPT)
        self.called: list[str] = []

    def _item(self, asked: dict[str, Any], number: int) -> dict[str, Any]:
        server = next((tool for tool in asked.get("tools", ()) if "contramem" in str(tool.get("name"))), None)
        call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        if server is None and number < 30:  # servers start while the first replies are written
            return call | {"name": "exec_command", "arguments": json.dumps({"cmd": "sleep 1"})}
        if server and self._left:
            name, given = self._left.pop(0)
            self.called.append(call["call_id"])
            return call | {"namespace": server["name"], "name": name, "arguments": json.dumps(given)}
        text = {"type": "output_text", "text": "done", "annotations": []}
        return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}

    def answers(self) -> list[str]:
        items = self.requests[-1]["input"]
        outputs = {item["call_id"]: str(item["output"]) for item in items if item.get("type") == "function_call_output"}
        return [outputs[call_id] for call_id in self.called]


def test_codex_finds_the_skill_calls_the_tools_and_its_card_is_in_the_bank(project: Path) -> None:
    codex = find_client("codex")
    install("codex", project)
    provider, home = ScriptedResponses(), project.parent / "home"
    (home / "config.toml").write_text(
        f"""
        model = "fake-model"
        model_provider = "fake"
        [model_providers.fake]
        name = "fake"
        base_url = "{provider.url}"
        wire_api = "responses"
        requires_openai_auth = false
        [projects."{project}"]
        trust_level = "trusted"
        """
    )
    if "PYTHONPATH" in os.environ:  # Codex hands a server only what its file names
        with (project / ".codex" / "config.toml").open("a") as file:
            file.write(f"[mcp_servers.contramem-author.env]\nPYTHONPATH = {json.dumps(os.environ['PYTHONPATH'])}\n")
    try:
        unasked = "--dangerously-bypass-approvals-and-sandbox"
        run([codex, "exec", "--skip-git-repo-check", unasked, WISH], project, HOME=str(home), CODEX_HOME=str(home))
    finally:
        provider.close()
    assert "learn-from-runs" in json.dumps(provider.requests[0]["input"]), "the skill is listed"
    check_what_was_learned(project, provider.answers())
