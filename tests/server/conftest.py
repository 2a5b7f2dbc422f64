"""A server over a bank that was built from runs shipped with the project, in this process and without a socket."""

from __future__ import annotations

from collections.abc import Iterator
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


@pytest.fixture
def server(bank: Path, tmp_path: Path) -> Iterator[Server]:
    options = ServerOptions({"default": ProjectOptions(str(bank), (RUNS,), tmp_path / "log.jsonl")})
    server = Server(options)
    server.open()
    for project in server.projects.values():
        project.index_runs()
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Iterator[TestClient]:
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        yield client
