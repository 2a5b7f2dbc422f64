"""A server over a bank that was built from runs shipped with the project, in this process and without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from contramem.server.app import Server, make_app
from contramem.server.options import ProjectOptions, ServerOptions

RUNS = Path(__file__).parents[2] / "examples" / "runs"


@pytest.fixture
def bank(shipped_bank: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "cards.db"
    copy.write_bytes(shipped_bank.read_bytes())
    return copy


@contextmanager
def opened(bank: Path, log: Path) -> Iterator[Server]:
    server = Server(ServerOptions({"default": ProjectOptions(str(bank), (RUNS,), log)}))
    server.open()
    for project in server.projects.values():
        project.index_runs()
    yield server
    server.close()


@pytest.fixture
def server(bank: Path, tmp_path: Path) -> Iterator[Server]:
    with opened(bank, tmp_path / "log.jsonl") as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[TestClient]:
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="session")
def reader(shipped_bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a server that all tests share: only for requests that change nothing."""
    folder = tmp_path_factory.mktemp("reader")
    bank = folder / "cards.db"
    bank.write_bytes(shipped_bank.read_bytes())
    with (
        opened(bank, folder / "log.jsonl") as server,
        TestClient(make_app(server), base_url="http://127.0.0.1") as client,
    ):
        yield client
