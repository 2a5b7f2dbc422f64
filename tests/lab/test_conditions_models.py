"""AWM and ACE, by rules and by a scripted model: what they read, what they keep, what they pay."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.made_runs import call, run
from tests.shipped import shipped

from contramem.build.model.author import ModelChoice
from contramem.llm.client import Price, Request
from contramem.llm.exchange import ModelCaller, Scripted, ScriptedModel
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory
from contramem_lab.baselines import (
    MIN_ACTIONS,
    Bullet,
    Playbook,
    by_task,
    curate_playbook,
    induce_workflows,
    learn_playbook,
    reflect_on_run,
)
from contramem_lab.baselines import by_ability as runs_of
from contramem_lab.condition import BuiltMemory, ByModel, ConditionInputs, Reference, mask_runs
from contramem_lab.conditions import CONDITIONS

GOLDEN = Path(__file__).parent / "golden"
LOOK = call("Mail.search", {"query": "news"}, [{"id": "m-1234"}])
DELETE = call("Mail.delete", {"id": "m-1234"})
REFUSED = call("Mail.delete", {}, None, "An id is needed.")
GUESS = call("Mail.delete", {"id": "m-9999"})


def task(number: int, *, ability: str = "execution") -> list[Trajectory]:
    """Solved by looking first; another run guesses and fails."""
    said: dict[str, Any] = {"task": f"Delete newsletter {number}.", "task_id": f"t{number}", "ability": ability}
    return [run("a", True, LOOK, REFUSED, DELETE, "Done.", **said), run("b", False, GUESS, "Done.", **said)]


RUNS = [one for number in range(3) for one in task(number)]


def by_script(
    folder: Path, answer: Callable[[Request], Scripted], runs: list[Trajectory] = RUNS
) -> tuple[ConditionInputs, ScriptedModel]:
    folder.mkdir(exist_ok=True)
    model = ScriptedModel(by=answer, price=Price(1.0, 2.0))
    return ConditionInputs(Reference(runs), folder, model=ByModel(ModelChoice(model.name), ModelCaller(model))), model


def shown(memory: BuiltMemory, ability: str = "execution", **more: Any) -> str:
    return memory.provider.begin(Query("Delete the newest newsletter.", ability=ability, **more)).guidance.text


# AWM


def test_awm_by_rules_never_sees_a_failed_run_and_never_keeps_a_workflow_of_one_action() -> None:
    reference = Reference(shipped())
    demonstrations = by_task(mask_runs(reference).values())
    assert all(one.passed for tasks in demonstrations.values() for runs in tasks for one in runs)
    workflows = [one for tasks in demonstrations.values() for one in induce_workflows(tasks)]
    assert workflows
    assert all(len(one.actions) == len(one.functions) >= MIN_ACTIONS for one in workflows)


def test_tasks_with_the_same_calls_share_a_workflow(tmp_path: Path) -> None:
    memory = CONDITIONS["awm"].build(ConditionInputs(Reference(RUNS), tmp_path))
    assert (memory.items, memory.construction.trajectories) == (1, 3)
    assert "1. Mail.search(query=news)" in shown(memory)
    assert "2. Mail.delete" in shown(memory)


def test_the_library_of_another_ability_is_not_shown_and_without_a_label_all_are(tmp_path: Path) -> None:
    memory = CONDITIONS["awm"].build(ConditionInputs(Reference([*task(0), *task(1, ability="search")]), tmp_path))
    assert memory.items == 2
    assert shown(memory).count("### Workflow") == shown(memory, "search").count("### Workflow") == 1
    assert shown(memory, "time") == ""
    assert shown(memory, None).count("### Workflow") == 2  # type: ignore[arg-type]


def induction(request: Request) -> Scripted:
    workflows = [
        {
            "about": "Delete mail",
            "actions": ["Mail.search(query={q})", "Mail.delete(id={id})"],
            "demonstrations": [1, 2],
        },
        {"about": "Too short", "actions": ["Mail.delete(id={id})"], "demonstrations": [1]},
        {"about": "Made up", "actions": ["Mail.search(query={q})", "Mail.burn(id={id})"], "demonstrations": [1]},
        {"about": "No such run", "actions": ["Mail.search(query={q})", "Mail.delete(id={id})"], "demonstrations": [9]},
    ]
    return {"workflows": workflows}


def test_awm_by_a_model_is_one_call_per_ability_and_keeps_only_valid_workflows(tmp_path: Path) -> None:
    inputs, model = by_script(tmp_path, induction, [*RUNS, *task(7, ability="search"), *task(8, ability="search")])
    memory = CONDITIONS["awm"].build(inputs)
    assert [request.subject for request in model.asked] == ["execution", "search"]
    assert memory.items == 2
    assert "Too short" not in shown(memory)
    construction = memory.construction
    assert (construction.by, construction.calls, construction.trajectories) == ("scripted", 2, 5)
    spent = Price(1.0, 2.0).of(construction.tokens_in, construction.tokens_out)
    assert construction.cost_usd == pytest.approx(spent)


def test_a_prompt_for_workflows_contains_no_failed_run_source_or_value(tmp_path: Path) -> None:
    inputs, model = by_script(tmp_path, induction)
    CONDITIONS["awm"].build(inputs)
    (request,) = model.asked
    text = "\n".join(message.text for message in request.messages)
    assert text.count("Task: ") == 3
    assert "m-9999" not in text
    assert "m-1234" not in text


def test_a_workflow_of_a_model_is_never_shown_to_a_task_that_demonstrated_it(tmp_path: Path) -> None:
    inputs, _ = by_script(tmp_path, induction)
    memory = CONDITIONS["awm"].build(inputs)
    assert shown(memory, task_id="t0") == ""
    assert "Delete mail" in shown(memory, task_id="t2")


def test_a_second_build_asks_nothing_and_reports_the_same_cost(tmp_path: Path) -> None:
    inputs, _ = by_script(tmp_path, induction)
    first = CONDITIONS["awm"].build(inputs)
    again, model = by_script(tmp_path, induction)
    second = CONDITIONS["awm"].build(again)
    assert model.asked == []
    assert second.construction.calls == first.construction.calls == 1
    assert second.construction.cost_usd == first.construction.cost_usd


def test_an_unparsable_reply_is_asked_for_again_and_then_given_up(tmp_path: Path) -> None:
    inputs, model = by_script(tmp_path / "a", lambda request: "no JSON" if len(model.asked) < 2 else induction(request))
    assert CONDITIONS["awm"].build(inputs).items == 1
    assert [message.role for message in model.asked[1].messages] == ["system", "user", "assistant", "user"]
    hopeless, silent = by_script(tmp_path / "b", lambda request: "no JSON")
    assert CONDITIONS["awm"].build(hopeless).items == 0
    assert len(silent.asked) == 3


# ACE


def test_ace_by_rules_learns_from_each_run_alone() -> None:
    (found,) = runs_of(mask_runs(Reference(RUNS)).values()).values()
    passed, failed = found[:2]
    said = [bullet.content for bullet in reflect_on_run(passed)]
    assert "Take `id` of `Mail.delete` from what `Mail.search` returned." in said
    assert "`Mail.delete` may answer “An id is needed.”. Another `id` worked." in said
    assert [bullet.content for bullet in reflect_on_run(failed)] == [
        "A run failed that gave `Mail.delete` a value for `id` that it had seen nowhere."
    ]


def test_the_playbook_of_rules_orders_the_run_that_looked_before_the_one_that_guessed(tmp_path: Path) -> None:
    from contramem_lab.foresight import contests, order_pairs

    memory = CONDITIONS["ace"].build(ConditionInputs(Reference(RUNS), tmp_path))
    (contest,) = contests([task(9)])
    assert memory.judge is not None
    assert order_pairs(contest, memory.judge(contest)).right == 1


BULLETS = some.builds(Bullet, some.sampled_from(["tools", "mistakes"]), some.sampled_from("abcdefgh"))


@given(some.lists(some.lists(BULLETS)))
def test_a_playbook_only_grows_and_says_nothing_twice(steps: list[list[Bullet]]) -> None:
    playbook: Playbook = ()
    for insights in steps:
        grown = curate_playbook(playbook, insights)
        assert tuple(grown[: len(playbook)]) == tuple(playbook)
        playbook = grown
    said = [bullet.content for bullet in playbook]
    assert len(said) == len(set(said))
    assert set(said) == {bullet.content for insights in steps for bullet in insights}


def test_a_playbook_by_rules_is_the_same_after_a_second_epoch() -> None:
    for found in runs_of(mask_runs(Reference(shipped("drive", "desk"))).values()).values():
        assert learn_playbook([*found, *found]) == learn_playbook(found)


def reflections(request: Request) -> Scripted:
    """The third run has nothing to add; every other adds one bullet of its own and tries to repeat the first."""
    if request.stage == "reflector":
        return {"insights": ["Look before you delete."] if request.messages[1].text.count("- [") != 2 else []}
    known = request.messages[1].text.count("- [")
    contents = ["Look before you delete.", f"Lesson {known}."]
    return {"operations": [{"operation": "ADD", "section": "strategies", "content": one} for one in contents]}


def test_ace_by_a_model_reads_one_run_at_a_time_with_the_whole_playbook(tmp_path: Path) -> None:
    inputs, model = by_script(tmp_path, reflections, [*task(0), *task(1)])
    memory = CONDITIONS["ace"].build(inputs)
    stages = [request.stage for request in model.asked]
    # The first run adds two bullets; with two in the playbook nothing more is found, so that no Curator is asked.
    assert stages == ["reflector", "curator", "reflector", "reflector", "reflector"]
    assert all(request.messages[1].text.count("Task: ") == 1 for request in model.asked if request.stage == "reflector")
    assert "- [strategies] Lesson 0." in model.asked[-1].messages[1].text
    assert (memory.items, memory.construction.calls, memory.construction.trajectories) == (2, 5, 4)
    assert memory.judge is None
    assert "- [strategies] Look before you delete." in shown(memory)


def test_a_bullet_is_never_shown_to_the_task_whose_run_taught_it(tmp_path: Path) -> None:
    inputs, _ = by_script(tmp_path, reflections, [*task(0), *task(1)])
    memory = CONDITIONS["ace"].build(inputs)
    assert shown(memory, task_id="t0") == ""
    assert shown(memory, task_id="t1") != ""


def test_a_model_cannot_change_or_remove_a_bullet(tmp_path: Path) -> None:
    def removes(request: Request) -> Scripted:
        if request.stage == "reflector":
            return {"insights": ["The playbook is wrong."]}
        return {"operations": [{"operation": "REMOVE", "section": "tools", "content": "Look before you delete."}]}

    inputs, model = by_script(tmp_path, removes, task(0))
    assert CONDITIONS["ace"].build(inputs).items == 0
    # Asked three times, and not again for the second run, whose question is the same.
    assert [request.stage for request in model.asked].count("curator") == 3


@pytest.mark.parametrize(("condition", "stage"), [("awm", "builder"), ("ace", "reflector"), ("ace", "curator")])
def test_a_prompt_looks_like_its_golden_file(condition: str, stage: str, tmp_path: Path) -> None:
    """CONTRAMEM_GOLDEN=write makes the files anew."""
    answer = induction if condition == "awm" else reflections
    inputs, model = by_script(tmp_path, answer, [*task(0), *task(1)])
    CONDITIONS[condition].build(inputs)
    asked = [request for request in model.asked if request.stage == stage][-1]
    text = "".join(f"[{role}]\n{said}\n\n" for role, said in asked.messages)
    path = GOLDEN / f"{condition}_{stage}.txt"
    if os.environ.get("CONTRAMEM_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
