"""The Python environment of ARE: one command creates it, every run finds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contramem.errors import UsageError

PACKAGE = "meta-agents-research-environments"
VERSION = "1.2.0"
WHERE = "CONTRAMEM_ARE"
"""The environment variable that names the environment, if it is not where `--install` puts it."""


@dataclass(frozen=True)
class Installation:
    """A Python environment with ARE installed."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def is_there(self) -> bool:
        """Is ARE in it? It is not imported for that, which takes seconds."""
        return self.python.exists() and any(self.folder.glob("**/site-packages/are/simulation/__init__.py"))


@dataclass(frozen=True)
class InstallReport:
    folder: Path
    seconds: float
    megabytes: float


def default_folder() -> Path:
    """Where ARE is looked for and installed."""
    named = os.environ.get(WHERE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else cache / "contramem" / f"are-{VERSION}"


def find_installation(folder: Path | None = None) -> Installation:
    """ARE's environment, or an error that says how to make it."""
    installation = Installation(folder or default_folder())
    if not installation.is_there:
        raise UsageError(
            f"ARE is not installed at {installation.folder}. Make its environment with `contramem lab bench are "
            "--install`, "
            f"or name one that has {PACKAGE} with {WHERE}."
        )
    return installation


def install(folder: Path | None = None, say: Callable[[str], None] = print) -> InstallReport:
    """Create the environment and install ARE in it, or update an existing one."""
    installation, began = Installation(folder or default_folder()), time.monotonic()
    installation.folder.parent.mkdir(parents=True, exist_ok=True)
    for command in _commands(installation):
        say(" ".join(command))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
            raise UsageError(f"`{' '.join(command)}` failed: {last[0]}")
    size = sum(file.lstat().st_size for file in installation.folder.rglob("*") if file.is_file())
    return InstallReport(installation.folder, time.monotonic() - began, size / 1e6)


def _commands(installation: Installation) -> list[list[str]]:
    wanted, python = f"{PACKAGE}=={VERSION}", str(installation.python)
    beside = Path(sys.executable).with_name("uv")
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)
    if uv:  # pip needs minutes for ARE's hundred packages
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return [
            [uv, "venv", "--quiet", "--allow-existing", "--python", version, str(installation.folder)],
            [uv, "pip", "install", "--quiet", "--python", python, wanted],
        ]
    return [
        [sys.executable, "-m", "venv", str(installation.folder)],
        [python, "-m", "pip", "install", "--quiet", wanted],
    ]
