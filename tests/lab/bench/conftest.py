"""Tests here share small_world.py; in pytest's importlib mode its folder has to be named."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
