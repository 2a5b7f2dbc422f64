"""A playbook by a model: for each trajectory a Reflector call and, if it found something, a Curator call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from contramem.bank.card import Line, Strict
from contramem.build.model.replies import parse_reply
from contramem.contrast.instructions import overrides
from contramem.prompts import fence
from contramem_lab.conditions.ace import SECTIONS, Bullet, Playbook, curate_playbook
from contramem_lab.conditions.asking import Asking, Work, converse
from contramem_lab.conditions.masked import MaskedRun


class AceReflectorReply(Strict):
    insights: tuple[Line, ...]


class Addition(Strict):
    operation: Literal["ADD"]
    section: Literal["strategies", "tools", "mistakes"]
    content: Line


class AceCuratorReply(Strict):
    operations: tuple[Addition, ...]


def learn_playbooks(runs: Mapping[str, Sequence[MaskedRun]], model: Asking) -> dict[str, Playbook]:
    """A playbook for each ability. Abilities are learned in parallel; within one, each run extends the playbook."""
    works = [_learn_playbook(ability, members, model) for ability, members in runs.items()]
    return dict(zip(runs, model.side_by_side(works), strict=True))


def _learn_playbook(ability: str, runs: Sequence[MaskedRun], model: Asking) -> Work[Playbook]:
    playbook: Playbook = ()
    for run in runs:
        written = fence("playbook", "\n".join(bullet.text for bullet in playbook)) if playbook else "empty"
        request = model.request(
            "ace_reflector",
            "reflector",
            ability,
            AceReflectorReply,
            ability=fence("ability", ability),
            playbook=written,
            trajectory=fence("run", "\n".join([f"Task: {run.task}", *run.lines])),
            outcome="passed" if run.passed else "failed",
            feedback=f" Feedback: {run.feedback}" if run.feedback else "",
        )
        reflection = yield from converse(request, lambda text: parse_reply(text, AceReflectorReply))
        if reflection is None or not reflection.insights:
            continue
        request = model.request(
            "ace_curator",
            "curator",
            ability,
            AceCuratorReply,
            ability=fence("ability", ability),
            playbook=written,
            insights=fence("insights", "\n".join(f"- {insight}" for insight in reflection.insights)),
            sections=", ".join(SECTIONS),
        )
        decision = yield from converse(request, lambda text: parse_reply(text, AceCuratorReply))
        if decision is not None:
            playbook = curate_playbook(
                playbook, [_bullet(operation, run) for operation in decision.operations if _is_safe(operation)]
            )
    return playbook


def _is_safe(addition: Addition) -> bool:
    return overrides(addition.content) is None


def _bullet(addition: Addition, run: MaskedRun) -> Bullet:
    return Bullet(addition.section, " ".join(addition.content.split()), run.identity)
