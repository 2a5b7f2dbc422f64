"""The package builds as wheel and sdist, and what is installed from either runs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*words: object, cwd: Path) -> str:
    # The built package is what is tested, not the sources beside it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    finished = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr[-2000:]
    return finished.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist; the wheel is built from the sdist, as an index does."""
    folder = tmp_path_factory.mktemp("dist")
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed here")
    run(uv, "build", "--out-dir", folder, ROOT, cwd=folder)
    return folder


@pytest.mark.slow
def test_a_wheel_holds_every_file_that_the_package_reads(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= names


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["*.whl", "*.tar.gz"])
def test_what_is_installed_from_it_reads_runs(built: Path, tmp_path: Path, ending: str) -> None:
    (package,) = built.glob(ending)
    uv, home = Path(sys.executable).with_name("uv"), tmp_path / "env"
    run(uv, "venv", "--python", sys.executable, home, cwd=tmp_path)
    run(uv, "pip", "install", "--python", home / "bin" / "python", package, cwd=tmp_path)
    output = run(home / "bin" / "contramem", "traces", ROOT / "examples" / "runs", "--json", cwd=tmp_path)
    assert '"runs"' in output
