"""The package as a whole: its map, its names, its weight."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import contramem
from contramem import errors
from tests.shipped import shipped

PACKAGE = Path(contramem.__file__).parent


def test_every_folder_is_on_the_map() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(re.findall(r"^    (\w+)/", contramem.__doc__ or "", re.MULTILINE))


def test_every_file_that_a_folder_says_it_has_is_there() -> None:
    for folder in (path.parent for path in PACKAGE.rglob("__init__.py")):
        said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        for name in re.findall(r"(?:\w+/)*\w+\.py\b", said):
            assert (folder / name).exists() or name == "__init__.py", f"{folder.name} says it has {name}"


def test_every_public_name_can_be_imported_and_they_are_sorted() -> None:
    assert sorted(contramem.__all__) == contramem.__all__
    for name in contramem.__all__:
        assert getattr(contramem, name) is not None
    assert set(contramem.__all__) == set(contramem._HOMES)


def test_importing_contramem_is_light_and_silent() -> None:
    code = "import time; t=time.process_time(); import contramem; print(time.process_time()-t)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(finished.stdout) < 0.3
    assert finished.stderr == ""


def test_every_error_is_raised_somewhere_and_listed_in_the_tree() -> None:
    packages = (PACKAGE, PACKAGE.with_name("contramem_lab"))
    source = "\n".join(path.read_text(encoding="utf-8") for folder in packages for path in folder.rglob("*.py"))
    classes = [name for name, value in vars(errors).items() if isinstance(value, type) and name != "ContramemError"]
    for name in classes:
        assert re.search(rf"(raise|return) {name}\(", source), f"{name} is never raised"
        assert re.search(rf"── {name}\b", errors.__doc__ or ""), f"{name} is not in the tree"


STAGES = (
    "traces",
    "collection",
    "privacy",
    "contrast",
    "bank",
    "guards",
    "retrieve",
    "validate",
    "llm",
    "build",
    "inject",
)
TOGETHER = ("pipeline", "watch", "evaluate", "server", "cli")


def test_no_stage_imports_what_puts_stages_together() -> None:
    """traces/ knows nothing of later stages, collection/ only of traces/, and so on. Secrets are told at the door."""
    beside = {"engine", "errors", "file_lock", "progress", "scratch", "whole_file"}
    allowed = {
        "traces": {"traces", "privacy.secrets", "privacy.personal", *beside},
        "collection": {"traces", "collection", "privacy.secrets", *beside},
        "privacy": {"traces", "collection", "privacy", *beside},
        "contrast": {"traces", "collection", "privacy", "contrast", *beside},
    }
    for stage in STAGES:
        for path in (PACKAGE / stage).rglob("*.py"):
            for name in _imported(path):
                module = name.split(".")[1]
                assert module not in TOGETHER, f"{path.name} imports {module}"
                names = {module, name.removeprefix("contramem.")}
                assert not names.isdisjoint(allowed.get(stage, names)), f"{path.name} imports {name}"


def test_the_library_imports_nothing_of_the_lab() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"\b(from|import) contramem_lab\b", path.read_text(encoding="utf-8")), path


def test_serving_an_agent_imports_nothing_that_builds_a_bank() -> None:
    code = "import sys, contramem.inject.run; print([name for name in sys.modules if name.startswith('contramem.')])"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in ast.literal_eval(finished.stdout)}
    assert loaded.isdisjoint({"build", "contrast", "llm", *TOGETHER})


def _imported(path: Path) -> list[str]:
    return re.findall(r"^\s*(?:from|import) (contramem\.[\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_one_call_turns_runs_into_a_bank_and_a_second_call_changes_nothing(tmp_path: Path) -> None:
    runs = shipped("drive")
    with contramem.open_store(tmp_path / "cards.db", create=True) as store:
        report = contramem.learn(runs, store)
        assert report.functions["ADD"] == len(store.bank().functions) > 0
        assert "lockDoors before startEngine" in {card.title for card in store.bank().skills}
        assert not contramem.learn(runs, store).changed
