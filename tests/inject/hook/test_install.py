import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hook_events import prompt

from contramem.cli.connect import hook
from contramem.errors import UsageError
from contramem.inject.hook.install import EVENTS


def run(*arguments, given=""):
    return CliRunner().invoke(hook, list(arguments), input=given, catch_exceptions=False)


class TestInstall:
    """`contramem hook install` writes settings that run the hook."""

    def install(self, bank_path, project, client="claude-code", *more):
        return run("install", "--client", client, "--bank", str(bank_path), "--project", str(project), *more)

    @pytest.mark.slow
    def test_the_command_it_writes_is_one_that_answers(self, bank_path, tmp_path, state):
        output = self.install(bank_path, tmp_path).output
        assert "PreToolUse: added" in output
        settings = json.loads((tmp_path / ".claude" / "settings.local.json").read_text())
        assert set(settings["hooks"]) == set(EVENTS["claude-code"])
        (group,) = settings["hooks"]["PreToolUse"]
        assert group["matcher"] == "*"
        command = group["hooks"][0]["command"] + f" --state {state}"
        event = json.dumps(prompt())
        done = subprocess.run(command, shell=True, input=event, capture_output=True, text=True, check=True)
        assert "additionalContext" in json.loads(done.stdout)["hookSpecificOutput"]

    def test_a_second_time_changes_nothing_and_another_bank_changes_the_command(self, bank_path, tmp_path):
        self.install(bank_path, tmp_path)
        path = tmp_path / ".claude" / "settings.local.json"
        before = path.read_text()
        assert "PreToolUse: unchanged" in self.install(bank_path, tmp_path).output
        assert path.read_text() == before
        assert "PreToolUse: updated" in self.install(bank_path, tmp_path, "claude-code", "--profile", "small").output
        assert len(json.loads(path.read_text())["hooks"]["PreToolUse"]) == 1

    def test_other_settings_and_hooks_stay(self, bank_path, tmp_path):
        path = tmp_path / ".claude" / "settings.local.json"
        path.parent.mkdir()
        other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
        path.write_text(json.dumps({"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [other]}}))
        self.install(bank_path, tmp_path)
        settings = json.loads(path.read_text())
        assert settings["permissions"] == {"allow": ["Bash(ls)"]}
        assert settings["hooks"]["PreToolUse"][0] == other

    def test_codex_has_its_own_file_and_wants_to_be_asked(self, bank_path, tmp_path):
        output = self.install(bank_path, tmp_path, "codex").output
        assert "Codex skips a hook without a word until you trust it" in output
        hooks = json.loads((tmp_path / ".codex" / "hooks.json").read_text())["hooks"]
        assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}

    @pytest.mark.parametrize("content", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}'])
    def test_settings_that_cannot_be_read_are_left_alone(self, bank_path, tmp_path, content):
        path = tmp_path / ".claude" / "settings.local.json"
        path.parent.mkdir()
        path.write_text(content)
        with pytest.raises(UsageError, match=r"settings\.local\.json"):
            self.install(bank_path, tmp_path)
        assert path.read_text() == content

    def test_a_bank_that_is_not_there_is_told_before_anything_is_written(self, tmp_path):
        with pytest.raises(UsageError, match="there is no bank here"):
            self.install(tmp_path / "none.jsonl", tmp_path)
        assert not (tmp_path / ".claude").exists()

    def test_what_a_team_commits_names_no_path_of_this_machine(self, bank_path, tmp_path):
        bank = tmp_path / "memory" / "bank.jsonl"
        bank.parent.mkdir()
        bank.write_bytes(bank_path.read_bytes())
        self.install(bank, tmp_path)
        self.install(bank, tmp_path, "claude-code", "--shared")
        shared = (tmp_path / ".claude" / "settings.json").read_text()
        assert str(tmp_path) not in shared
        assert sys.executable not in shared
        assert "contramem hook" in shared
        assert "hooks" not in json.loads((tmp_path / ".claude" / "settings.local.json").read_text()), "not twice"
        with pytest.raises(UsageError, match="a bank inside"):
            self.install(bank_path, tmp_path, "claude-code", "--shared")

    def test_uninstall_leaves_everything_else(self, bank_path, tmp_path):
        path = tmp_path / ".claude" / "settings.local.json"
        path.parent.mkdir()
        other = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}]}}
        path.write_text(json.dumps(other))
        self.install(bank_path, tmp_path)
        output = run("uninstall", "--client", "claude-code", "--project", str(tmp_path)).output
        assert "PreToolUse" in output
        assert json.loads(path.read_text()) == other

    def test_status_says_that_codex_skips_a_hook_that_nobody_trusted(self, bank_path, tmp_path, monkeypatch):
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
        run("install", "--client", "codex", "--bank", str(bank_path), "--project", str(tmp_path))
        status = ["status", "--project", str(tmp_path), "--json"]
        assert "Stop" in json.loads(run(*status).output)[0]["untrusted"]
        hooks, config = tmp_path / ".codex" / "hooks.json", tmp_path / "home" / "config.toml"
        config.parent.mkdir()
        names = ("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use")
        keys = [f'[hooks.state."{hooks}:{name}:0:0"]\ntrusted_hash = "sha256:0"\n' for name in names]
        config.write_text("".join(keys))
        assert json.loads(run(*status).output)[0]["untrusted"] == ["Stop"]
        config.write_text("no = [toml")
        assert len(json.loads(run(*status).output)[0]["untrusted"]) == 5

    def test_status_says_what_is_installed_and_what_is_broken(self, bank_path, tmp_path):
        assert "No hook of contramem" in run("status", "--project", str(tmp_path)).output
        bank = tmp_path / "bank.jsonl"
        bank.write_bytes(bank_path.read_bytes())
        self.install(bank, tmp_path)
        assert "works:" in run("status", "--project", str(tmp_path)).output
        bank.write_text("no bank")
        broken = run("status", "--project", str(tmp_path), "--json")
        assert broken.exit_code == 1
        [setup] = json.loads(broken.output)
        assert setup["problem"].startswith("broken:")
        assert setup["missing"] == []
