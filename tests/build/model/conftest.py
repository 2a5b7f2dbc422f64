"""The shipped runs, read once for all tests of this folder that only look at them."""

from __future__ import annotations

import pytest
from tests.model_replies import Runs


@pytest.fixture(scope="session")
def runs() -> Runs:
    return Runs.shipped()
