"""scripts/size and .ci/run on a small project: a figure above its ceiling fails, a ceiling only goes down, and the fast
suite runs on the oldest and newest Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = "one two three four five six seven eight"
COMMAND_LINE = f'''
import re

import click

DIGITS = re.compile(r"[0-9]+")
LIMIT = 20
WORDS = "{WORDS}".split()


@click.group()
def cli() -> None: ...


@cli.command()
@click.option("--bank")
def build() -> None: ...
'''
OWN = "python{}.{}".format(*sys.version_info)
NOTES = '#!/bin/sh\necho "$(basename "$0") $* ${PYTHON##*/}" >> ran.txt\n'
FIGURES = {
    "core_lines": COMMAND_LINE.count("\n"),
    "lab_lines": 1,
    "files": 3,
    "patterns": 1,
    "words_in_lists": 8,
    "numeric_constants": 1,
    "commands": 1,
    "options": 1,
    "doc_words": 3,
    "readme_words": 2,
    "test_lines": 1,
    "benchmark_lines": 1,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "src/contramem/__init__.py": "",
        "src/contramem/cli.py": COMMAND_LINE,
        "src/contramem_lab/agent.py": "AGENT = True\n",
        "docs/guide.md": "Build a bank.",
        "README.md": "Read me.",
        "tests/test_cli.py": "assert True\n",
        "benchmarks/speed": "print(1)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "size", tmp_path / "scripts")
    return tmp_path


def write_ceilings(project: Path, **changed: int) -> Path:
    path = project / "scripts" / "size.toml"
    path.write_text("".join(f"{name} = {ceiling}\n" for name, ceiling in (FIGURES | changed).items()))
    return path


def run_size(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, project / "scripts" / "size", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_project_at_its_ceilings_passes(project: Path) -> None:
    write_ceilings(project)
    ran = run_size(project)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_figure_above_its_ceiling_fails_and_is_named(project: Path) -> None:
    write_ceilings(project, files=1, words_in_lists=5)
    ran = run_size(project)
    assert ran.returncode == 1
    assert "words in lists 3 above its ceiling of 5" in ran.stderr
    assert "files 2 above its ceiling of 1" in ran.stderr


def test_a_ceiling_is_lowered_to_the_figure_and_never_raised(project: Path) -> None:
    path = write_ceilings(project, files=1, patterns=40)
    assert run_size(project, "--lower").returncode == 1
    assert "files = 1\n" in path.read_text()
    assert "patterns = 1\n" in path.read_text()


@pytest.fixture
def checkout(project: Path) -> Path:
    """The project with .ci/run and scripts that only note that they ran; on its path, Python as `python3` alone."""
    shutil.copytree(ROOT / ".ci", project / ".ci")
    for name in ("lint", "demo", "test", "env"):
        write_script(project / "scripts" / name, NOTES)
    for tool in ("bash", "sh", "env", "cat", "dirname", "basename", "sed", "uniq", "id"):
        found = shutil.which(tool)
        assert found
        link(project / "bin" / tool, found)
    link(project / "bin" / "chromium", sys.executable)
    link(project / "bin" / "python3", sys.executable)
    return project


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def link(path: Path, target: str) -> None:
    write_script(path, f'#!/bin/sh\nexec "{target}" "$@"\n')


def run_ci(checkout: Path) -> tuple[int, list[str], str]:
    environment = {**os.environ, "PATH": str(checkout / "bin"), "HOME": str(checkout)}
    for name in ("PYENV_ROOT", "PYTHON"):
        environment.pop(name, None)
    ran = subprocess.run([checkout / ".ci" / "run"], env=environment, capture_output=True, text=True)
    return ran.returncode, [line.strip() for line in (checkout / "ran.txt").read_text().splitlines()], ran.stderr


def test_a_ceiling_that_is_exceeded_ends_the_run(checkout: Path) -> None:
    write_ceilings(checkout, files=1)
    code, steps, said = run_ci(checkout)
    assert code == 1 and steps == ["lint"]
    assert "files 2 above its ceiling of 1" in said


def test_where_there_is_one_python_all_tests_run_once(checkout: Path) -> None:
    write_ceilings(checkout)
    link(checkout / "bin" / OWN, sys.executable)
    code, steps, said = run_ci(checkout)
    assert (code, steps) == (0, ["lint", "demo", "test"]), said


def test_the_fast_suite_runs_on_the_oldest_and_newest_python_that_really_runs(checkout: Path) -> None:
    """3.19 is a shim of pyenv for a version that is switched off; 3.18 is installed by pyenv and not on the path."""
    write_ceilings(checkout)
    write_script(checkout / "bin" / "python3.19", "#!/bin/sh\nexit 127\n")
    for path in ("bin/python3.16", "bin/python3.17", ".pyenv/versions/3.18.0/bin/python3.18"):
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        write_script(checkout / path, "#!/bin/sh\nexit 0\n")
    code, steps, said = run_ci(checkout)
    assert (code, steps) == (0, ["lint", "demo", "test", "test --fast python3.16", "test --fast python3.18"]), said
