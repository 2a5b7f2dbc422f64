"""What every test may use."""

import fcntl
import os
import signal
import sys
from pathlib import Path
from tempfile import gettempdir

import pytest
from hypothesis import HealthCheck, settings

# A verdict depends on the code alone: not on how busy the machine is, nor on which examples were drawn today.
# To look for examples that nobody has seen: scripts/test tests/traces --hypothesis-profile=explore
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", UNHURRIED, derandomize=True, max_examples=50)
settings.register_profile("explore", UNHURRIED, max_examples=1000)
settings.load_profile("steady")

# Nor on the terminal and the switches of whoever runs it.
os.environ["COLUMNS"] = "80"
for name in ("CONTRAMEM_OFF", "FORCE_COLOR", "LINES", "NO_COLOR"):
    os.environ.pop(name, None)

# Nor on what builds of theirs have kept, which no test may remove.
os.environ["CONTRAMEM_CACHE"] = str(Path(gettempdir(), f"contramem-tests-{os.getpid()}"))

# ARE has an environment of its own, which scripts/env makes inside ours.
_are = Path(sys.prefix) / "are"
if _are.is_dir():
    os.environ.setdefault("CONTRAMEM_ARE", str(_are))

# Nor on a shell that starts it in the background: what such a shell starts ignores Ctrl-C, and so would our processes.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shipped_bank(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The store of all shipped runs, built once for all workers. Not to be written to: copy it."""
    from tests.shipped import RUNS, build

    own = tmp_path_factory.getbasetemp()
    folder = own if worker_id == "master" else own.parent
    path = folder / "shipped.db"
    with (folder / "shipped.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            build(folder / "building.db", RUNS)
            (folder / "building.db").rename(path)
    return path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real traces, no part of the repository: $CONTRAMEM_SHARED_DATA, or `shared/data` beside the checkout."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("CONTRAMEM_SHARED_DATA", beside))
    if not path.is_dir():
        pytest.skip(f"no real traces at {path}; set CONTRAMEM_SHARED_DATA to where they are")
    return path
