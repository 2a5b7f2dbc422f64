"""Operating a Kubernetes-like cluster. Names are slugs, arguments are nested, one tool takes no arguments."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from worlds.world import Agent, Planted, Refused, Session, World

SEVERITY = ("info", "warning", "critical")
NAMESPACES = ("billing", "search", "checkout", "ingest", "media")
APPS = ("api", "worker", "gateway", "cache", "indexer")
CAREFUL, USUAL, OFTEN = 0.05, 0.35, 0.7


class Cluster(World):
    name = "cluster"
    planted = (
        Planted("cordon before drain (refused)", (("precedence", "cordon_node", "drain_node"),)),
        Planted("cordon before drain, on the card", (("first", "drain_node", "cordon_node"),)),
        Planted("look the pod up", (("known_value", "evict_pod", "pod"),)),
        Planted("every pod", (("each", "list_pods", "evict_pod"),)),
        Planted("renew the lease", (("recovery", "scale_deployment", "renew_lease"),)),
        Planted("give the lease back (silent)", (("response", "acquire_lease", "release_lease"),
                                                 ("response", "scale_deployment", "release_lease"))),
        Planted("snapshot before migrating (silent)", (("precedence", "snapshot_volume", "migrate_volume"),)),
        Planted("watch the rollout (silent)", (("response", "restart_deployment", "reads"),
                                               ("response", "restart_deployment", "rollout_status"))),
        Planted("page once (silent)", (("at_most_once", "page_oncall"),)),
        Planted("severity is one of three words", (("words", "page_oncall", "severity", *SEVERITY),)),
        Planted("replicas is an integer", (("form", "scale_deployment", "replicas", "integer"),)),
        Planted("pod stands in list_pods", (("source", "evict_pod", "pod", "list_pods"),)),
        Planted("lease_id stands in acquire_lease", (("source", "scale_deployment", "lease_id", "acquire_lease"),)),
    )  # fmt: skip
    implied = frozenset(
        {
            ("source", "release_lease", "lease_id", "acquire_lease"),
            ("source", "renew_lease", "lease_id", "acquire_lease"),
            ("source", "scale_deployment", "lease_id", "renew_lease"),
            ("source", "release_lease", "lease_id", "renew_lease"),
            ("precedence", "list_pods", "evict_pod"),
            ("precedence", "acquire_lease", "scale_deployment"),
            ("first", "scale_deployment", "renew_lease"),
            ("precedence", "renew_lease", "scale_deployment"),
            ("first", "undo_rollout", "restart_deployment"),
            ("precedence", "restart_deployment", "undo_rollout"),
            *(("end", name) for name in "release_lease drain_node migrate_volume page_oncall undo_rollout".split()),
        }
    )
    agents = (
        Agent("atlas", dict.fromkeys("cordon pod some lease snapshot watch release page word type".split(), CAREFUL),
              {"nodes": 0.6, "logs": 0.5}),
        Agent("bolt", {"cordon": OFTEN, "snapshot": USUAL, "watch": USUAL, "word": OFTEN, "page": USUAL,
                       "type": USUAL}, {"nodes": 0.5}),
        Agent("cirrus", {"pod": OFTEN, "some": USUAL, "lease": OFTEN, "type": OFTEN, "release": USUAL, "watch": 0.2},
              {"logs": 0.5, "nodes": 0.2}),
        Agent("drift", {"snapshot": OFTEN, "watch": OFTEN, "release": OFTEN, "some": OFTEN, "cordon": USUAL,
                        "stuck": USUAL}, {"logs": 0.3}),
    )  # fmt: skip

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.namespace, self.app = rng.choice(NAMESPACES), rng.choice(APPS)
        self.node = f"node-{rng.choice('abcdef')}{rng.randrange(10, 99)}"
        self.pods = [
            f"{self.app}-{rng.randrange(16**9, 16**10):x}-{self._suffix()}" for _ in range(rng.randrange(2, 5))
        ]
        self.severity = rng.choice(SEVERITY)
        self.replicas = rng.randrange(2, 9)
        self.broken_image = rng.random() < 0.6
        self.lease: str | None = None
        self.fresh = rng.random() < 0.5
        self.cordoned = self.drained = self.snapshotted = self.migrated = self.released = False
        self.restarted = self.healthy = False
        self.scaled: int | None = None
        self.evicted: set[str] = set()
        self.paged: list[str] = []
        self.kind = ""

    def _suffix(self) -> str:
        return "".join(self.rng.choice("bcdfghjklmnpqrstvwxz2456789") for _ in range(5))

    # Tools

    @property
    def tools(self) -> dict[str, Callable[..., Any]]:
        return {
            name: getattr(self, name)
            for name in """list_nodes list_pods get_logs cordon_node drain_node evict_pod acquire_lease renew_lease
            release_lease scale_deployment snapshot_volume migrate_volume restart_deployment rollout_status undo_rollout
            page_oncall""".split()
        }

    def list_nodes(self) -> Any:
        return [{"node": self.node, "ready": True}, {"node": "node-z01", "ready": True}]

    def list_pods(self, target: dict[str, str]) -> Any:
        return {"items": [{"pod": pod, "phase": "Failed", "restarts": 7} for pod in self.pods]}

    def get_logs(self, target: dict[str, str], tail: int) -> Any:
        return "level=warn msg=retrying\nlevel=info msg=ok"

    def cordon_node(self, node: str) -> Any:
        self.cordoned = True
        return {"node": node, "unschedulable": True}

    def drain_node(self, node: str) -> Any:
        if not self.cordoned:
            raise Refused(f'node "{node}" is still schedulable')
        self.drained = True
        return {"node": node, "drained": True}

    def evict_pod(self, pod: str, target: dict[str, str]) -> Any:
        if pod not in self.pods:
            raise Refused(f'pods "{pod}" not found')
        self.evicted.add(pod)
        return {"pod": pod, "evicted": True}

    def acquire_lease(self, namespace: str) -> Any:
        self.lease = f"lease-{self.rng.randrange(16**7, 16**8):x}"
        return {"lease_id": self.lease, "seconds": 60}

    def renew_lease(self, lease_id: str) -> Any:
        self.fresh = True
        return {"lease_id": lease_id, "seconds": 60}

    def release_lease(self, lease_id: str) -> Any:
        self.released = True
        return {"released": True}

    def scale_deployment(self, target: dict[str, str], replicas: Any, lease_id: str) -> Any:
        if not isinstance(replicas, int):
            raise Refused("spec.replicas: expected an integer, got a string")
        if not self.fresh:
            raise Refused("lease has expired")
        self.scaled = replicas
        return {"deployment": target["name"], "replicas": replicas}

    def snapshot_volume(self, volume: str) -> Any:
        self.snapshotted = True
        return {"snapshot": f"snap-{self.rng.randrange(16**7, 16**8):x}"}

    def migrate_volume(self, volume: str, storage_class: str) -> Any:
        self.migrated = True
        return {"volume": volume, "phase": "Migrating"}

    def restart_deployment(self, target: dict[str, str]) -> Any:
        self.restarted, self.healthy = True, not self.broken_image
        return {"restarted": True}

    def rollout_status(self, target: dict[str, str]) -> Any:
        return {"available": self.healthy, "reason": "" if self.healthy else "ImagePullBackOff"}

    def undo_rollout(self, target: dict[str, str]) -> Any:
        self.healthy = True
        return {"revision": 3}

    def page_oncall(self, team: str, severity: str) -> Any:
        if severity not in SEVERITY:
            raise Refused(f"invalid severity '{severity}', expected one of: info, warning, critical")
        self.paged.append(severity)
        return {"page": self.rng.randrange(10_000, 99_999)}

    # Tasks

    def ask(self, number: int) -> str:
        self.kind = ("drain", "evict", "scale", "migrate", "restart", "page")[number % 6]
        where = f"{self.app} in {self.namespace}"
        return {
            "drain": f"Take {self.node} out of service for maintenance.",
            "evict": f"The pods of {where} hang; get rid of the broken ones.",
            "scale": f"Bring {where} to {self.replicas} replicas.",
            "migrate": f"Move the volume {self.app}-data to the class fast-ssd.",
            "restart": f"Restart {where} so that it takes up the new image.",
            "page": f"Wake the people of {self.namespace}; it is {self.severity}.",
        }[self.kind]

    def attempt(self, session: Session) -> None:
        if session.does("nodes"):
            session.call("list_nodes")
        getattr(self, f"_{self.kind}")(session, {"namespace": self.namespace, "name": self.app})
        if session.does("logs"):
            session.call("get_logs", target={"namespace": self.namespace, "name": self.app}, tail=20)
        session.say("Done.")

    def _drain(self, session: Session, target: dict[str, str]) -> None:
        careless = session.slips("cordon")
        if not careless:
            session.call("cordon_node", node=self.node)
        if session.call("drain_node", node=self.node) is None and not session.slips("stuck"):
            session.call("cordon_node", node=self.node)
            session.call("drain_node", node=self.node)

    def _evict(self, session: Session, target: dict[str, str]) -> None:
        if session.slips("pod"):
            session.call("evict_pod", pod=f"{self.app}-{session.rng.randrange(9)}", target=target)
            if session.rng.random() < 0.5:
                return
        shown = session.call("list_pods", target=target)["items"]
        for item in shown[:1] if session.slips("some") else shown:
            session.call("evict_pod", pod=item["pod"], target=target)

    def _scale(self, session: Session, target: dict[str, str]) -> None:
        lease = session.call("acquire_lease", namespace=self.namespace)["lease_id"]
        replicas = str(self.replicas) if session.slips("type") else self.replicas
        made = session.call("scale_deployment", target=target, replicas=replicas, lease_id=lease)
        if made is None and isinstance(replicas, str):
            made = session.call("scale_deployment", target=target, replicas=self.replicas, lease_id=lease)
        if made is None and not session.slips("lease"):
            session.call("renew_lease", lease_id=lease)
            session.call("scale_deployment", target=target, replicas=self.replicas, lease_id=lease)
        if not session.slips("release"):
            session.call("release_lease", lease_id=lease)

    def _migrate(self, session: Session, target: dict[str, str]) -> None:
        volume = f"{self.app}-data"
        if not session.slips("snapshot"):
            session.call("snapshot_volume", volume=volume)
        session.call("migrate_volume", volume=volume, storage_class="fast-ssd")

    def _restart(self, session: Session, target: dict[str, str]) -> None:
        session.call("restart_deployment", target=target)
        if not session.slips("watch") and not session.call("rollout_status", target=target)["available"]:
            session.call("undo_rollout", target=target)

    def _page(self, session: Session, target: dict[str, str]) -> None:
        word = {"info": "low", "warning": "medium", "critical": "high"}[self.severity]
        word = word if session.slips("word") else self.severity
        if session.call("page_oncall", team=self.namespace, severity=word) is None and not session.slips("stuck"):
            session.call("page_oncall", team=self.namespace, severity=self.severity)
        if session.slips("page"):
            session.call("page_oncall", team=self.namespace, severity=self.severity)

    def solved(self) -> bool:
        return {
            "drain": self.drained,
            "evict": self.evicted == set(self.pods),
            "scale": self.scaled == self.replicas and self.released,
            "migrate": self.migrated and self.snapshotted,
            "restart": self.restarted and self.healthy,
            "page": self.paged == [self.severity],
        }[self.kind]
