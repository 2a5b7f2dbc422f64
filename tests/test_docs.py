"""What the documents say is run: files they show are written, commands run, and their output is what is printed.

    ```json file=runs.jsonl     the block is written to that file
    ```console                  `$ contramem ...` lines are run; `...` stands for any lines
    ```console needs=agentdojo  the same with public runs in that folder; skipped where there are none
Python has to compile, and what it imports from contramem has to exist. Every other `contramem ...` line in a block must
at least be a command that exists, with options that it takes.
"""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import tarfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from contramem.cli import cli
from contramem.errors import ContramemError

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Examples of this page are run whole, each with its framework, by tests/inject/adapters/test_documented_examples.py.
NOT_RUN_WHOLE = [document for document in DOCUMENTS if document.name != "integrations.md"]
SLOW = {"README.md", "start.md", "cards.md", "experiments.md"}  # they build banks, or run a whole experiment
BLOCK = re.compile(r"^```(\w*)(?: file=(\S+))?(?: needs=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FETCH = ROOT / "examples/public/fetch"


def mark_slow(document: Path) -> object:
    return pytest.param(document, marks=[pytest.mark.slow] if document.name in SLOW else [])


@pytest.mark.parametrize("document", [*map(mark_slow, DOCUMENTS)], ids=lambda path: path.name)
def test_the_commands_of_a_document_do_what_it_says(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "experiments"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for language, file, public, content in BLOCK.findall(document.read_text(encoding="utf-8")):
        if public:
            continue
        if file:
            Path(file).write_text(content, encoding="utf-8")
        elif language == "console":
            for command, expected in _commands(content):
                assert_printed(_run(command), expected, command)
        else:
            for line in re.findall(r"^(?:\$ )?(contramem .*)$", content, re.MULTILINE):
                assert_parses(line)


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_on_public_runs_do_what_a_document_says(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for _, _, public, content in BLOCK.findall(document.read_text(encoding="utf-8")):
        if public:
            unpack_public_runs(Path(public), shared_data)
            for command, expected in _commands(content):
                assert_printed(_run(command), expected, command)


@pytest.mark.parametrize("document", NOT_RUN_WHOLE, ids=lambda path: path.name)
def test_python_in_a_document_compiles_and_imports_what_exists(document: Path) -> None:
    for language, *_, content in BLOCK.findall(document.read_text(encoding="utf-8")):
        nodes = ast.walk(ast.parse(content)) if language == "python" else ()
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("contramem"):
                module = importlib.import_module(node.module or "")
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == [], node.module


def unpack_public_runs(folder: Path, data: Path) -> None:
    """What examples/public/fetch brings: some models' runs at the tasks of the workspace."""
    models = re.findall(r"\bmodels=\((.*?)\)", FETCH.read_text(encoding="utf-8"))[0].split()
    with tarfile.open(data / "agentdojo/runs_no_attack.tar.xz", "r:xz") as archive:
        for member in archive:
            if member.name.split("/")[1:3] in ([model, "workspace"] for model in models):
                archive.extract(member, folder, filter="data")


def _commands(content: str) -> list[tuple[str, list[str]]]:
    commands: list[tuple[str, list[str]]] = []
    for line in content.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def _run(command: str) -> list[str]:
    words = shlex.split(command)
    assert words[0] == "contramem", f"only contramem is run: {command}"
    try:
        result = CliRunner().invoke(cli, words[1:], catch_exceptions=False)
    except ContramemError as error:
        return [f"contramem: {error}"]
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.output.splitlines()]


def assert_printed(printed: list[str], expected: list[str], command: str) -> None:
    """`...` alone stands for any lines, `...` at the end of a line for its rest."""
    rest = printed
    anywhere = False
    for line in expected:
        if line.strip() == "...":
            anywhere = True
            continue
        places = [number for number, found in enumerate(rest) if _alike(found, line)]
        assert places, f"`{command}` did not print {line!r} here:\n" + "\n".join(rest[:40])
        assert anywhere or places[0] == 0, f"`{command}` printed {rest[0]!r} before {line!r}"
        rest, anywhere = rest[places[0] + 1 :], False


def _alike(found: str, line: str) -> bool:
    return found.startswith(line[:-3].rstrip()) if line.endswith("...") else found == line.rstrip()


def assert_parses(line: str) -> None:
    words = shlex.split(line.partition(" #")[0])[1:]
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]!r}: {line}"
        command, words = found, words[1:]
    try:
        command.make_context("contramem", [word for word in words if word != "..."], resilient_parsing=False)
    except click.exceptions.Exit:
        pass
    except click.UsageError as error:
        raise AssertionError(f"{line}: {error.format_message()}") from None
