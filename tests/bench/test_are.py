"""ARE: scenarios as tasks, and runs in ARE's own environment (slow; skipped where it is not installed)."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.bench.are_engine import SAY_DONE, ScriptedEngine

from contramem.bench.are.environment import AreEnvironment
from contramem.bench.are.installation import Installation, default_folder, find_installation
from contramem.bench.are.scenarios import read_scenarios, write_task_list
from contramem.bench.are.settings import AreSettings, AreTarget, Judge, Message, TimeRuntime
from contramem.bench.limits import Limits
from contramem.cli import main
from contramem.errors import UsageError
from contramem.inject.provider import TextMemory
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory

SCENARIOS = Path(__file__).with_name("are_scenarios")
LIMITS = Limits(steps=25, seconds=300)
installed = pytest.mark.skipif(
    not Installation(default_folder()).is_there, reason="ARE is not installed: contramem bench are --install"
)


def run(task_id: str, engine: str = "careful", text: str = "", **parts: bool) -> Trajectory:
    settings = AreSettings(Judge("scripted"), TimeRuntime(**parts))
    environment = AreEnvironment((str(SCENARIOS),), settings)
    memory = TextMemory(lambda query: text) if text else None
    return environment.attempt(task_id, AreTarget(engine, engine=ScriptedEngine(engine)), memory, LIMITS)


def test_scenarios_in_gaia2_layout_are_tasks_by_ability() -> None:
    tasks = read_scenarios([str(SCENARIOS)], [])
    assert len(tasks) == 15
    assert {task.ability for task in tasks.values()} == {"execution", "search", "ambiguity", "adaptability", "time"}
    assert tasks["made_up_execution_1"].wording.startswith("Email Ann Lee with the subject 'Lunch'")


def test_nothing_of_the_oracle_is_in_a_task() -> None:
    """The right Sam stands only in what the oracle and the later turn say."""
    assert "Hill" not in str(read_scenarios([str(SCENARIOS)], [])["made_up_ambiguity_1"].turns)


def test_a_file_that_is_no_scenario_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    shutil.copytree(SCENARIOS / "time", tmp_path / "time")
    (tmp_path / "time" / "validation" / "broken.json").write_text("{")
    (tmp_path / "time" / "validation" / "other.json").write_text("{}")
    problems: list[str] = []
    assert len(read_scenarios([str(tmp_path)], problems)) == 3
    assert len(problems) == 2
    assert all("is no ARE scenario" in problem for problem in problems)


def test_the_list_of_tasks_is_written_before_any_run(tmp_path: Path) -> None:
    tasks = read_scenarios([str(SCENARIOS)], [])
    write_task_list(tasks.values(), tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    assert rows[0]["environment"] == "are" and rows[0]["wording"]


def test_a_judge_without_a_model_is_refused_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="judge"):
        AreEnvironment((str(SCENARIOS),)).attempt("made_up_time_1", AreTarget("x"), None, LIMITS)


def test_without_ares_environment_the_command_to_make_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contramem bench are --install"):
        find_installation(tmp_path)


def test_the_temporal_runtime_is_for_time_alone() -> None:
    assert not any(TimeRuntime().for_ability("search").values())
    assert TimeRuntime(ticks=False).for_ability("time")["ticks"] is False


@installed
@pytest.mark.slow
@pytest.mark.parametrize("ability", ["execution", "search", "ambiguity", "adaptability", "time"])
def test_memory_that_names_what_is_missing_turns_a_failing_run_into_a_passing_one(ability: str) -> None:
    words = "Use search_contacts, list_emails and wait_for_notification."
    assert run(f"made_up_{ability}_2", "follower").outcome.passed is False
    helped = run(f"made_up_{ability}_2", "follower", words)
    assert helped.outcome.passed
    assert [shown.text for shown in helped.guidance] == [words]


@installed
@pytest.mark.slow
def test_the_trajectory_is_what_was_driven() -> None:
    done = run("made_up_execution_1")
    assert [(call.function, call.arguments.get("query")) for call in done.calls] == [
        ("ContactsApp.search_contacts", "Ann Lee"),
        ("EmailClientV2.send_email", None),
        ("AgentUserInterface.send_message_to_user", None),
    ]
    assert done.usage.model_calls == 3


@installed
@pytest.mark.slow
def test_a_wait_beyond_the_end_is_clipped_and_without_that_the_run_is_lost() -> None:
    """Without ticks, which would end the wait as well."""
    assert run("made_up_time_3", ticks=False).outcome.passed
    assert run("made_up_time_3", ticks=False, clip=False).outcome.passed is False


@installed
@pytest.mark.slow
def test_a_last_message_before_the_agents_own_timer_is_held() -> None:
    """A tick ends the wait early; the engine takes it for the end and reports. Held, it waits for the rest."""
    assert run("made_up_time_1", "early").outcome.passed
    assert run("made_up_time_1", "early", repair=False).outcome.passed is False


@installed
@pytest.mark.slow
def test_without_a_clock_an_agent_cannot_tell_that_its_wait_was_cut_short() -> None:
    assert run("made_up_time_1", clock=False, repair=False).outcome.passed is False


@installed
@pytest.mark.slow
def test_an_engine_that_never_acts_meets_the_limit_and_counts_as_failed() -> None:
    environment = AreEnvironment((str(SCENARIOS),), AreSettings(Judge("scripted")))
    idle = AreTarget("idle", engine=ScriptedEngine("idle"))
    done = environment.attempt("made_up_search_1", idle, None, Limits(steps=3, seconds=200))
    assert (done.outcome.passed, done.outcome.ended) == (False, "limit")


@installed
@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended_and_what_it_did_is_kept() -> None:
    class Stuck(ScriptedEngine):
        def complete(self, messages: Sequence[Message]) -> str:
            return super().complete(messages) if len(messages) < 3 else (ended.wait(120) and "") or ""

    import threading

    ended = threading.Event()
    environment = AreEnvironment((str(SCENARIOS),), AreSettings(Judge("scripted")))
    target = AreTarget("careful", engine=Stuck("careful"))
    threading.Timer(25, ended.set).start()
    done = environment.attempt("made_up_execution_1", target, None, Limits(steps=9, seconds=20))
    assert (done.outcome.passed, done.outcome.ended) == (False, "limit")
    assert "20 seconds" in done.outcome.feedback


@installed
@pytest.mark.slow
def test_one_bad_scenario_stops_no_other_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "time" / "validation"
    folder.mkdir(parents=True)
    good = SCENARIOS / "time" / "validation" / "made_up_time_2.json"
    shutil.copy(good, folder)
    document = json.loads(good.read_text())
    document["metadata"]["definition"]["scenario_id"] = "no_such_app"
    document["apps"][1]["class_name"] = "NoSuchApp"
    (folder / "bad.json").write_text(json.dumps(document))
    engine = f"{Path(__file__).with_name('are_engine.py')}:careful"
    with pytest.raises(SystemExit):
        main(["bench", "are", str(tmp_path), "--engine", engine, "--judge", "scripted", "--json", "--out",
              str(tmp_path / "out")])  # fmt: skip
    said = json.loads(capsys.readouterr().out)
    assert [row["passed"] for row in said["runs"]] == [True]
    assert "no_such_app" in said["problems"][0] or "bad.json" in said["problems"][0]
    assert len(list(read_traces([tmp_path / "out"]))) == 1


@installed
@pytest.mark.slow
def test_a_built_in_scenario_runs() -> None:
    environment = AreEnvironment(("scenario_tutorial",), AreSettings(Judge("scripted")))
    done = environment.attempt(
        "scenario_tutorial", AreTarget("done", engine=SAY_DONE), None, Limits(steps=3, seconds=200)
    )
    assert done.task
    assert done.calls[-1].function == "AgentUserInterface.send_message_to_user"
