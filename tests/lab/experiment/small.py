"""The small experiment that the tests run: its file, and its ways of being run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.shipped import contramem

WORLD = Path(__file__).with_name("small_world.py")

SMALL = f"""\
name = "small"
seed = 7

[sources]
collect = ["careful", "hasty"]

[targets.careful]
kind = "python"
python = "{WORLD}:careful"

[targets.hasty]
kind = "python"
python = "{WORLD}:hasty"

[split]
reference = 3
held_out = 3

[environment]
names = ["{WORLD}:environment"]
limits = {{ steps = 8 }}

[conditions]
run = ["none", "contramem", "ceiling", "wrong-card"]
"""


def written(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def run(file: Path, out: Path) -> dict[str, Any]:
    """Run it and give what `--json` says."""
    found: dict[str, Any] = json.loads(contramem("lab", "experiment", "run", file, "--out", out, "--json").stdout)
    return found


def traces(out: Path) -> dict[str, bytes]:
    """Every run by its file."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*.jsonl"))
        if "stores" not in path.parts
    }
