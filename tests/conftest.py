"""What every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real traces, no part of the repository: $CONTRAMEM_SHARED_DATA, or `shared/data` beside the checkout."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("CONTRAMEM_SHARED_DATA", beside))
    if not path.is_dir():
        pytest.skip(f"no real traces at {path}; set CONTRAMEM_SHARED_DATA to where they are")
    return path
