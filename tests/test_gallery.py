"""The gallery shows what the build makes today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_gallery_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "examples/gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    assert shown == module.gallery(), "remake it: python examples/gallery.py > docs/gallery.md"
