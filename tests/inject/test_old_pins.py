"""The runtime is installed beside other people's agents: with the versions that ARE pins, everything here must pass."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PINS = ["pydantic==2.10.6", "numpy==2.2.6", "click==8.1.8", "jinja2==3.1.6"]
TESTS = ["tests/retrieve", "tests/inject", "--ignore=tests/inject/adapters"]


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="pydantic 2.10.6 has no wheels for Python 3.14")
def test_the_core_installs_with_the_pins_of_are_and_passes_its_runtime_tests(tmp_path):
    python = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    installed = install(python, [*PINS, str(ROOT), "pytest", "hypothesis", "bm25s", "rank-bm25"])
    if "No matching distribution" in installed.stderr or "connection" in installed.stderr.lower():
        pytest.skip(f"the pinned versions cannot be had here: {installed.stderr.strip().splitlines()[-1]}")
    assert installed.returncode == 0, installed.stderr
    pytest_ = [str(python), "-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(pytest_, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


def install(python: Path, wanted: list[str]) -> subprocess.CompletedProcess[str]:
    """An environment with these packages: by uv where it is and finds them, as scripts/env does; else by pip."""
    into = ["install", "--quiet", *wanted]
    uv = Path(sys.executable).with_name("uv")
    ways = [[str(uv), "pip", *into, "--python", str(python)]] if uv.exists() else []
    ways.append([sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", *into])
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python.parents[1])], check=True)
    for way in ways:
        done = subprocess.run(way, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    return done
