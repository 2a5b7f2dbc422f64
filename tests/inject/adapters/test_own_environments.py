"""Adapters of frameworks whose requirements exclude ours: their tests, run in environments of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FRAMEWORKS = {
    "frameworks": ("autogen", "google-adk", "llama-index", "smolagents", "strands"),
    "crewai": ("crewai",),
}
FOR_TESTS = {"frameworks": ["autogen-ext"], "crewai": []}


def python_with(name, extras):
    """The Python of an environment that is kept beside the packages of this one."""
    python = Path(sys.prefix) / "own-environments" / name / "bin" / "python"
    uv = shutil.which("uv") or str(Path(sys.prefix) / "bin" / "uv")
    packages = [f"{ROOT}[{','.join(extras)}]", "pytest", "hypothesis", *FOR_TESTS[name]]
    try:
        subprocess.run(
            [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, python.parents[1]], check=True
        )
        install = [uv, "pip", "install", "--quiet", "--python", python, *packages]
        subprocess.run(install, check=True, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(
            f"no environment with {', '.join(extras)} can be made here: {getattr(error, 'stderr', '') or error}"
        )
    return python


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_adapters_work_in_environments_of_their_own(name):
    extras = FRAMEWORKS[name]
    files = [HERE / f"test_{extra.replace('-', '_')}.py" for extra in extras]
    quiet = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "PYTHONPATH": str(ROOT / "src")}
    # Warnings of other people's packages are not ours to mend.
    command = [python_with(name, extras), "-m", "pytest", "-q", "-W", "ignore", "-rs", *files]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | quiet, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "SKIPPED" not in done.stdout, done.stdout
