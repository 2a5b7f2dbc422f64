import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from contramem.inject.adapters.starter import Starter
from contramem.inject.hook.place import HookOptions, HookPlace
from contramem.inject.hook.server import HookServer, sessions_of
from contramem.inject.hook.sessions import HookSessions
from contramem.inject.hook.wire import end


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def sessions(memory):
    return HookSessions(Starter(memory, {}), "always")


@pytest.fixture
def state():
    """A folder for the files of the hook, with a path that is short enough for a socket. Resident processes that a test
    started end with it."""
    with TemporaryDirectory() as folder:
        yield Path(folder)
        for address in Path(folder).glob("address-*"):
            end(address)


@pytest.fixture
def options(bank_path, state):
    return HookOptions(str(bank_path), state)


@pytest.fixture
def serve(options):
    """Starts a server that ends with the test."""
    servers = []

    def start(**how):
        place = HookPlace.of(options)
        server = HookServer(place, sessions_of(options, place), **how)
        thread = threading.Thread(target=server.serve_until_idle)
        thread.start()
        servers.append((server, thread))
        return server, thread

    yield start
    end(HookPlace.of(options).address)
    for _, thread in servers:
        thread.join()
