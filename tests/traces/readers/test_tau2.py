"""tau2 results: one file, or a results.json with simulations/ beside it."""

import json
from pathlib import Path

import pytest

from contramem.traces.files import TraceFile
from contramem.traces.read import read_traces
from contramem.traces.reader import Problem, ReadOptions
from contramem.traces.readers.meter import Meter
from contramem.traces.readers.tau2 import Tau2Reader

TASK = {
    "id": "[mms]off[PERSONA:Easy]",
    "ticket": "The user cannot send MMS.",
    "user_scenario": {"instructions": {"reason_for_call": "You cannot send MMS.", "known_info": "You are Ann."}},
    "evaluation_criteria": {"actions": [{"name": "secret_expected_action", "arguments": {}}]},
}


def simulation(**changes: object) -> dict:
    messages = [
        {"role": "assistant", "content": "Hi!", "cost": 0.0, "usage": None},
        {"role": "user", "content": "No MMS."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "name": "get_line", "arguments": {"id": 1}, "requestor": "assistant"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2},
            "cost": 0.5,
        },
        {"role": "tool", "id": "1", "content": "no line", "error": True, "requestor": "assistant"},
        {"role": "user", "tool_calls": [{"id": "2", "name": "toggle", "arguments": {}, "requestor": "user"}]},
        {"role": "tool", "tool_messages": [{"role": "tool", "id": "2", "content": "on", "error": False}]},
        {
            "role": "assistant",
            "content": "Solved.",
            "usage": {"prompt_tokens": 5, "completion_tokens": 1},
            "cost": 0.25,
        },
        {"role": "user", "content": "Thanks ###STOP###"},
    ]
    base = {"id": "s", "task_id": TASK["id"], "trial": 1, "termination_reason": "user_stop", "messages": messages}
    return {**base, "reward_info": {"reward": 1.0}, **changes}


def results(*simulations: dict, agent: str = "llm_agent", user: str = "user_simulator") -> dict:
    info = {
        "agent_info": {"implementation": agent, "llm": "model-a"},
        "user_info": {"implementation": user},
        "environment_info": {"domain_name": "telecom"},
    }
    return {"info": info, "tasks": [TASK], "simulations": list(simulations)}


def read(document: object) -> list:
    return list(Tau2Reader().read(TraceFile.of_bytes("results.json", json.dumps(document).encode()), ReadOptions()))


def test_a_simulation_is_a_run() -> None:
    (run,) = read(results(simulation()))
    assert (run.environment, run.task_id, run.source, run.run) == ("tau2/telecom", TASK["id"], "model-a", "1")
    assert (run.task, run.authored, run.scenario_id) == ("You cannot send MMS.\nYou are Ann.", True, "[mms]off")
    assert (run.outcome.passed, run.outcome.ended, run.ability) == (True, "complete", "telecom")
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.tokens_out, run.usage.cost_usd) == (2, 15, 3, 0.75)
    assert str(run.origin) == "results.json:0"
    assert "secret_expected_action" not in str(run)


def test_calls_on_the_users_device_are_the_users() -> None:
    (run,) = read(results(simulation()))
    assert [(event.actor, event.function) for event in run.events if event.function] == [
        ("agent", "telecom.get_line"),
        ("user", "telecom.toggle"),
    ]
    assert run.events[2].result.error == "no line"
    assert run.events[3].result.content == "on"
    assert [(event.kind, event.text) for event in run.events[-2:]] == [("final", "Solved."), ("message", "Thanks")]


def test_without_a_user_it_is_another_environment_and_the_ticket_is_the_task() -> None:
    stop = {"role": "assistant", "content": "###STOP###"}
    messages = [*simulation()["messages"][2:4], stop]
    (run,) = read(results(simulation(messages=messages), agent="llm_agent_solo", user="dummy_user"))
    assert (run.environment, run.task) == ("tau2/telecom-no-user", "The user cannot send MMS.")
    assert (run.events[-1].function, run.events[-1].effect) == ("telecom.done", "finalize")


@pytest.mark.parametrize(
    ("reason", "ended"),
    [("max_steps", "limit"), ("too_many_errors", "limit"), ("infrastructure_error", "interrupted")],
)
def test_how_a_run_ended_is_kept(reason: str, ended: str) -> None:
    (run,) = read(results(simulation(termination_reason=reason, reward_info=None)))
    assert (run.outcome.ended, run.outcome.passed) == (ended, None)


def test_feedback_names_what_did_not_hold() -> None:
    judged = {
        "reward": 0.0,
        "reward_breakdown": {"ENV_ASSERTION": 0.0, "DB": 1.0},
        "env_assertions": [{"env_assertion": {"func_name": "assert_mms"}, "met": False}],
        "nl_assertions": [{"nl_assertion": "Agent apologises", "met": False}],
    }
    (run,) = read(results(simulation(reward_info=judged)))
    assert run.outcome.feedback == "ENV_ASSERTION failed.\nassert_mms does not hold.\nNot met: Agent apologises"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder format: one simulation is there, another is listed but lost."""
    meta = results()
    del meta["simulations"]
    meta["simulation_index"] = [{"id": "s"}, {"id": "lost"}]
    (tmp_path / "simulations").mkdir()
    (tmp_path / "results.json").write_text(json.dumps(meta))
    (tmp_path / "simulations" / "s.json").write_text(json.dumps(simulation()))
    return tmp_path


def test_simulations_in_a_folder_find_their_results_above(folder: Path) -> None:
    reading = read_traces([folder])
    (run,) = reading
    assert (run.environment, run.source, reading.ignored) == ("tau2/telecom", "model-a", 0)
    (problem,) = reading.problems
    assert "'lost'" in problem.what


def test_a_simulation_alone_says_what_it_needs(folder: Path) -> None:
    reading = read_traces([folder / "simulations"])
    assert list(reading) == []
    assert "no results.json" in reading.problems[0].what


def test_a_simulation_whose_results_are_broken_says_which_file_is(folder: Path) -> None:
    (folder / "results.json").write_text('{"info":')
    reading = read_traces([folder / "simulations" / "s.json"])
    assert list(reading) == []
    assert "results.json, which is not valid JSON" in reading.problems[0].what


def test_a_broken_simulation_is_a_problem_and_the_next_is_read() -> None:
    problem, run = read(results(simulation(messages=[{"role": "assistant", "tool_calls": [{}]}]), simulation()))
    assert isinstance(problem, Problem)
    assert problem.where == "results.json:0"
    assert run.outcome.passed


def test_the_published_telecom_runs_give_the_published_counts(shared_data) -> None:
    reading = read_traces([shared_data / "tau2_bench/telecom.tar.xz"])
    passed = [run.outcome.passed for run in reading]
    assert (len(passed), sum(passed), reading.problems) == (180, 116, [])


def test_both_forms_of_the_samples_are_read_and_a_voice_index_gives_nothing(shared_data) -> None:
    reading = read_traces([shared_data / "formats/tau2"])
    runs = list(reading)
    assert (len(runs), {run.environment for run in runs}, reading.problems) == (4, {"tau2/airline"}, [])
    assert reading.ignored == 1  # SOURCE.md


def test_tokens_that_cost_nothing_have_an_unknown_price():
    meter = Meter()
    meter.add({"prompt_tokens": 900, "completion_tokens": 9}, 0.0)
    assert (meter.usage().tokens_in, meter.usage().cost_usd) == (900, None)
    meter.spend(0.25)
    assert meter.usage().cost_usd == 0.25


def test_the_policy_of_the_domain_is_what_the_agent_was_told() -> None:
    document = results(simulation())
    document["info"]["environment_info"]["policy"] = "The current time is 2025-02-25."
    assert read(document)[0].system == "The current time is 2025-02-25."
    messages = [{"role": "system", "content": "Be brief."}, *simulation()["messages"]]
    assert read({**document, "simulations": [simulation(messages=messages)]})[0].system == "Be brief."
