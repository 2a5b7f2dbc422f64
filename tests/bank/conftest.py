"""Tests here share bank_examples.py and small_build.py; in pytest's importlib mode their folder has to be named."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
