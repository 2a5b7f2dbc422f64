"""Manifest: what an experiment was run with, so that somebody else can run it again and get the same."""

from __future__ import annotations

import hashlib
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from contramem.evaluate.report import inputs_of
from contramem_lab.experiment.folder import ResultFolder
from contramem_lab.experiment.opened import OpenedExperiment

NAME = "manifest.json"
PACKAGES = (
    "contramem", "bpe-openai", "msgspec", "numpy", "pydantic", "agentdojo", "bfcl-eval", "openai",
    "pydantic-ai-slim",
)  # fmt: skip


def begin(folder: ResultFolder, opened: OpenedExperiment) -> dict[str, Any]:
    """Record what is known before the first run. Earlier sessions in the same folder stay listed."""
    before = folder.read_json(NAME) or {}
    file = opened.file
    started = {"started": _now(), "config_sha256": file.digest}
    log = {
        "name": opened.config.name,
        "config": {"file": file.path.name, "sha256": file.digest},
        "seed": opened.config.seed,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: installed for name in PACKAGES if (installed := _version(name)) is not None},
        "inputs": [vars(file_digest) for file_digest in inputs_of("sources", opened.source_paths())],
        "sessions": [*before.get("sessions", []), started],
    }
    folder.write_json(NAME, log)
    return log


def end(folder: ResultFolder, log: dict[str, Any]) -> None:
    """Add the results, with hashes."""
    log["sessions"][-1]["finished"] = _now()
    log["memories"] = {
        str(path.parent.relative_to(folder.memory)): _sha256(path)
        for name in ("bank.jsonl", "shown.jsonl")
        for path in sorted(folder.memory.rglob(name))
    }
    log["runs"] = {
        str(path.relative_to(folder.path)): _sha256(path)
        for root in (folder.reference, folder.runs)
        for path in sorted(root.rglob("*.jsonl"))
    }
    outputs = ("experiment.toml", "split.json", "results.json", "report.html", "report.md")
    log["outputs"] = {name: _sha256(folder.path / name) for name in outputs if (folder.path / name).exists()}
    folder.write_json(NAME, log)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
