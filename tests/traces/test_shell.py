"""A shell command is a call of the program it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.traces.normalize import Naming, Recorder
from contramem.traces.shell import command_shape, exit_code_error, function_called, is_shell, parse_command


@pytest.mark.parametrize(
    ("command", "function", "effect"),
    [
        ("cd app && pytest -q tests/test_x.py", "shell.pytest", "read"),
        ("PYTHONPATH=. python3.12 -m pytest -x 2>&1 | tail -5", "shell.pytest", "read"),
        ("git -C repo commit -m 'fix; then push'", "shell.git_commit", "write"),
        ("uv run mypy src", "shell.mypy", "read"),
        ("npm run test -- --watch", "shell.npm_test", "read"),
        ("npm test", "shell.npm_test", "read"),
        ("bash -lc 'cd x; cargo test --all'", "shell.cargo_test", "read"),
        ("cat > a.py <<'EOF'\nrm everything\nEOF", "shell.cat", "write"),
        ("cat a.py > /dev/null", "shell.cat", "read"),
        ("sed -i 's/a/b/' a.py", "shell.sed", "write"),
        ("sed -n 1,5p a.py", "shell.sed", "read"),
        ("timeout 60 make test", "shell.make_test", "read"),
        ("make", "shell.make", "write"),
        ("./scripts/run_tests.sh --fast", "shell.run_tests", "read"),
        ("for f in *; do rm $f; done", "shell.rm", "write"),
        ("sudo apt-get install -y tree", "shell.apt-get_install", "write"),
        ("export A=1\nruff check .", "shell.ruff", "unknown"),
        ("python manage.py migrate", "shell.manage_migrate", "write"),
        ("echo 'no end", "shell.echo", "read"),
    ],
)
def test_a_command_line_is_about_the_program_that_does_its_work(command: str, function: str, effect: str) -> None:
    assert parse_command(command) == (function, effect)


@given(st.text())
def test_any_text_is_parsed_as_a_command_or_not_at_all(command: str) -> None:
    found = parse_command(command)
    assert found is None or (found.function.startswith("shell.") and " " not in found.function)


def test_harnesses_that_name_their_shell_differently_call_the_same_program() -> None:
    calls = [
        ("Bash", {"command": "pytest -q"}),
        ("execute_bash", {"command": "cd src; pytest"}),
        ("exec_command", {"cmd": "pytest"}),
        ("shell", {"command": ["bash", "-lc", "pytest tests"]}),
        ("mcp__box__run_command", {"command": "python -m pytest"}),
    ]
    assert {function_called(tool, arguments) for tool, arguments in calls} == {"shell.pytest"}


def test_a_tool_that_is_not_a_shell_keeps_its_name() -> None:
    assert function_called("Robot.send_command", {"command": "pytest"}) == "Robot.send_command"
    assert function_called("Bash", {"description": "nothing to run"}) == "Bash"
    assert not is_shell("bashful")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("1 failed\nexit code: 1", True),
        ("Exit code 2\nno such file", True),
        ("8 passed\n<returncode>0</returncode>", False),
        ({"exit_code": 127, "output": "not found"}, True),
        ({"exit_code": 0, "output": "error: none"}, False),
        ("8 passed", False),
    ],
)
def test_an_exit_code_tells_whether_a_command_failed(content: object, error: bool) -> None:
    assert (exit_code_error("shell.pytest", content) is not None) is error


def test_a_search_that_finds_nothing_has_not_failed() -> None:
    assert exit_code_error("shell.grep", "exit code 1") is None
    assert exit_code_error("shell.grep", "exit code 2: no such directory") is not None


def test_what_other_tools_print_about_exit_codes_is_no_failure() -> None:
    assert exit_code_error("Wiki.read_page", "exit code 1 means failure") is None


def test_the_recorder_names_commands_by_their_programs() -> None:
    recorder = Recorder(Naming("general", forced="Mine"))
    recorder.call("bash", {"command": "pytest"}, "1")
    recorder.result("1 failed\nexit code 1", "1")
    recorder.call("edit_file", {"path": "a.py"}, "2")
    test, edit = recorder.events()
    assert (test.function, edit.function) == ("shell.pytest", "Mine.edit_file")
    assert test.result is not None and test.result.error is not None


def test_sessions_of_coding_agents_are_read_by_program() -> None:
    from contramem.traces.read import read_traces
    from contramem.traces.reader import ReadOptions

    sample = Path(__file__).parents[3] / "shared/data/formats/claude-code/agent_session.jsonl"
    if not sample.exists():
        pytest.skip("the sample sessions are not beside this checkout")
    runs = list(read_traces([sample], ReadOptions()))
    assert all(not event.function.endswith(".Bash") for run in runs for event in run.calls)


@pytest.mark.parametrize(
    ("command", "shape"),
    [
        ('cd /app && grep -rn "def f" src/a.py | head -5', "cd … && grep -rn … *.py | head -5"),
        ("sed -i 's/a/b/' secrets.txt > out.log", "sed -i … *.txt > *.log"),
        ("curl --user=me:pw https://host/x", "curl --user=… …"),
        ("python - <<'E'\nprint(1)\nE", "python … <<…"),
        ("echo 'unclosed", "echo"),
    ],
)
def test_the_shape_of_a_command_keeps_its_programs_and_options_and_no_values(command: str, shape: str) -> None:
    assert command_shape(command) == shape


@pytest.mark.parametrize("command", ["python -m Password:_hazel", "./enc--pass-hazel--in-s.sh", "Password:hazel"])
def test_a_word_with_a_colon_or_an_option_in_it_is_no_program(command: str) -> None:
    assert parse_command(command) is None


def test_a_script_of_a_package_may_have_a_colon() -> None:
    found = parse_command("npm run test:unit")
    assert found is not None and found.function == "shell.npm_test_unit"


@pytest.mark.parametrize(
    "typed", ["DISCUSSION\nThe script ran without output.", "After entering the lines above", "cd.."]
)
def test_what_is_no_command_is_a_call_of_the_tool(typed: str) -> None:
    assert parse_command(typed) is None
