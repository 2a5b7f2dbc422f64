"""RayEngine: the packets of a cluster are those of this process, also when a node is killed in the middle."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from contramem.bank.frozen import freeze
from contramem.bank.store import open_store
from contramem.build.rules.author import RuleAuthor
from contramem.collection.runs import Collection
from contramem.engine import SERIAL, Engine, LocalEngine, open_engine
from contramem.errors import EngineError, UsageError
from contramem.pipeline import build_bank, contrast_selected, learn_vocabulary
from contramem.validate.validator import Validator
from tests.made_runs import call, run

if find_spec("ray") is None:  # found, not imported: that takes a second
    pytest.skip("the extra `ray` is not installed", allow_module_level=True)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def pool() -> Iterator[Collection]:
    """Forty tasks, each a shard of its own: agents that look a record up before they change it pass."""
    runs = []
    for task in range(40):
        for number in range(4):
            look = call("Desk.find", {"name": f"case {task}"}, {"record": f"R-{task}77", "state": "open"})
            change = call("Desk.update", {"record": f"R-{task}77", "state": "closed"}, "updated")
            steps = (look, change) if number < 2 else (change,)
            runs.append(
                run(f"model{number}", number < 2, *steps, "done", task=f"Close case {task}.", task_id=f"t{task}")
            )
    with Collection(runs, shard_bytes=1) as pool:
        yield pool


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that takes no work and two nodes, all on this machine."""
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # on a busy machine
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        yield cluster, nodes
    finally:
        ray.shutdown()
        cluster.shutdown()


def build(pool: Collection, store: Path, engine: Engine, on_progress: Any = lambda *_: None) -> bytes:
    vocabulary = learn_vocabulary(pool, engine)
    packets = contrast_selected(pool, pool.tasks(), vocabulary, engine, on_progress)
    with open_store(str(store), create=True) as opened:
        build_bank(packets, opened, RuleAuthor(vocabulary), Validator(vocabulary.public))
        return freeze(opened.bank())


def test_the_bank_is_the_same_with_one_worker_with_two_on_ray_and_when_a_node_is_killed(
    pool: Collection, cluster: Any, tmp_path: Path
) -> None:
    from contramem.ray_engine import RayEngine

    killed = []

    def kill_a_node(stage: str, done: int, total: int) -> None:
        if stage == "contrasting" and done == total // 2:
            killed.append(done)
            ray_cluster, nodes = cluster
            ray_cluster.remove_node(nodes[0], allow_graceful=False)

    alone = build(pool, tmp_path / "alone.db", SERIAL)
    assert b"Desk.find" in alone
    with LocalEngine(2) as two:
        assert build(pool, tmp_path / "two.db", two) == alone
    assert build(pool, tmp_path / "ray.db", RayEngine()) == alone
    assert build(pool, tmp_path / "killed.db", RayEngine(), kill_a_node) == alone
    assert killed == [20]


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_no_cluster_answers_is_an_error_at_once(scheme: str) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EngineError, match=f"--address {address}: no Ray cluster answers there"):
            open_engine("ray", address=address)


def test_an_address_with_an_impossible_port_is_an_error() -> None:
    with pytest.raises(EngineError, match="no Ray cluster answers there"):
        open_engine("ray", address="127.0.0.1:99999")


def test_workers_of_a_running_cluster_cannot_be_chosen() -> None:
    with pytest.raises(UsageError, match="drop --address"):
        open_engine("ray", workers=2, address="ray://head:10001")
