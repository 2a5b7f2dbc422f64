import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from contramem.inject.adapters.starter import Starter
from contramem.inject.hook.place import HookOptions
from contramem.inject.hook.sessions import HookSessions
from contramem.inject.hook.wire import end


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def sessions(memory):
    return HookSessions(Starter(memory, {}))


@pytest.fixture
def state(tmp_path):
    """A folder for the files of the hook. Resident processes that a test started end with it."""
    folder = tmp_path / "state"
    yield folder
    for address in folder.glob("address-*"):
        end(address)


@pytest.fixture
def options(bank_path, state):
    return HookOptions(str(bank_path), state)
