"""scripts/size on a small project: a figure above its ceiling fails, and a ceiling only goes down."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SIZE = Path(__file__).parent.parent / "scripts" / "size"
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
    shutil.copy(SIZE, tmp_path / "scripts")
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
