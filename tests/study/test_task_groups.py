"""Tasks are put to the nearest group, found through an index, exactly as if each had been compared with every group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contramem.study.kinds import group_tasks, weigh_words, wording_of
from contramem.study.task_groups import NEAR, TaskProfile

_WORDS = st.sampled_from("refund order invoice cancel open ticket move meeting room customer note send".split())
_FUNCTIONS = st.sampled_from(["Shop.find", "Shop.refund", "Shop.cancel", "Desk.open", "Desk.assign"])
_TASKS = st.tuples(
    st.lists(_WORDS, max_size=7).map(" ".join),
    st.frozensets(_FUNCTIONS, max_size=3),
    st.sampled_from(["shop", "desk"]),
    st.sampled_from([None, None, None, "returns", "moves"]),
)


def _profiles(tasks: Sequence[tuple[str, frozenset[str], str, str | None]]) -> list[TaskProfile]:
    return [
        TaskProfile(f"task {number:03}", environment, scenario, text, functions, frozenset())
        for number, (text, functions, environment, scenario) in enumerate(tasks)
    ]


def _group_plainly(profiles: Sequence[TaskProfile]) -> set[tuple[str, ...]]:
    """Compare every task with every group of its environment, and sum everything up anew each time."""
    weights = weigh_words([wording_of(profile.text) for profile in profiles])
    groups: list[list[TaskProfile]] = []
    for profile in profiles:
        here = [group for group in groups if group[0].environment == profile.environment]
        same_scenario = [
            group for group in here if profile.scenario and any(task.scenario == profile.scenario for task in group)
        ]
        near = [group for group in here if _likeness(profile, group, weights) > NEAR]
        if same_scenario:
            same_scenario[0].append(profile)
        elif near:
            max(near, key=lambda group: _likeness(profile, group, weights)).append(profile)
        else:
            groups.append([profile])
    return {tuple(profile.task for profile in group) for group in groups}


def _likeness(profile: TaskProfile, group: Sequence[TaskProfile], weights: Mapping[str, int]) -> float:
    words = wording_of(profile.text)
    counts = Counter(word for task in group for word in wording_of(task.text))
    shared = sum(weights[word] * counts[word] for word in words)
    norm = sum(weights[word] * count**2 for word, count in counts.items())
    cosine = min(1.0, shared / (math.sqrt(sum(weights[word] for word in words)) * math.sqrt(norm))) if shared else 0.0
    uses = Counter(function for task in group for function in task.functions)
    common = sum(uses[function] for function in profile.functions)
    union = len(profile.functions) * len(group) + uses.total() - common
    return (cosine + (common / union if union else 1.0)) / 2


@pytest.mark.slow
@given(st.lists(_TASKS, max_size=40))
@settings(max_examples=150, deadline=None)
def test_the_index_gives_the_groups_that_comparing_with_every_group_gives(
    tasks: list[tuple[str, frozenset[str], str, str | None]],
) -> None:
    profiles = _profiles(tasks)
    assert {kind.tasks for kind in group_tasks(profiles)} == _group_plainly(profiles)


def test_tasks_that_use_no_function_are_one_kind_whatever_they_say() -> None:
    none = frozenset[str]()
    kinds = group_tasks(_profiles([("send a note", none, "desk", None), ("cancel", none, "desk", None)]))
    assert [kind.tasks for kind in kinds] == [("task 000", "task 001")]


def test_tasks_of_one_scenario_are_one_kind_whatever_they_say_and_use() -> None:
    refund = ("refund order", frozenset({"Shop.refund"}), "shop", "returns")
    cancel = ("open ticket", frozenset({"Shop.cancel"}), "shop", "returns")
    assert len(group_tasks(_profiles([refund, cancel]))) == 1
