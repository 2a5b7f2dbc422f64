"""tau-bench, the first version and tau2."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from contramem.traces.files import TraceFile
from contramem.traces.read import read_traces, readers
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.messages import Meter
from contramem.traces.readers.tau import source_of

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
    return list(
        readers()["tau2"].read(TraceFile.of_bytes("results.json", json.dumps(document).encode()), ReadOptions())
    )


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
    meter.add(None, 0.25)
    assert meter.usage().cost_usd == 0.25


def test_the_policy_of_the_domain_is_what_the_agent_was_told() -> None:
    document = results(simulation())
    document["info"]["environment_info"]["policy"] = "The current time is 2025-02-25."
    assert read(document)[0].system == "The current time is 2025-02-25."
    messages = [{"role": "system", "content": "Be brief."}, *simulation()["messages"]]
    assert read({**document, "simulations": [simulation(messages=messages)]})[0].system == "Be brief."


# tau-bench results: rows of a list, the model in the file name.


NAME = "results/retail/tool-calling-gpt-4.1-mini-0.0_range_0--1_user-gemini-2.0-flash-llm_0610135038.json"


def call(name: str, arguments: str = "{}") -> dict:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}}


def row(*ending: dict, reward: float = 1.0, **more: object) -> dict:
    task = {"instruction": "You want to cancel #W1.", "actions": [{"name": "cancel_pending_order", "kwargs": {}}]}
    judged = {"reward": reward, "info": {"r_actions": reward, "gt_data_hash": "x"}, "actions": task["actions"]}
    traj = [
        {"role": "system", "content": "# Retail agent policy"},
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": None, "tool_calls": [call("get_order", '{"id": "#W1"}')]},
        {"role": "tool", "tool_call_id": "get_order", "name": "get_order", "content": "Error: order not found"},
        *ending,
    ]
    info = {"task": task, "source": "user", "reward_info": judged}
    return {"task_id": 3, "reward": reward, "trial": 1, "info": info, "traj": traj, **more}


GOODBYE = (
    {"role": "assistant", "content": "There is no such order."},
    {"role": "user", "content": "Pity. Bye!\n\n###STOP###\n"},
)


def read_rows(*rows: object, name: str = NAME) -> list:
    file = TraceFile.of_bytes(name, json.dumps(rows).encode())
    return list(readers()["tau-bench"].read(file, ReadOptions()))


def test_a_row_is_a_run_of_the_model_in_the_file_name() -> None:
    (run,) = read_rows(row(*GOODBYE))
    assert (run.environment, run.task_id, run.run, run.ability) == ("tau-bench/retail", "3", "1", "retail")
    assert (run.source, run.task, run.authored) == ("gpt-4.1-mini", "You want to cancel #W1.", True)
    assert run.outcome.passed
    assert run.calls[0].function == "retail.get_order"
    assert run.calls[0].result.error == "Error: order not found"


def test_the_answer_before_the_goodbye_is_final_and_the_stop_token_is_dropped() -> None:
    (run,) = read_rows(row(*GOODBYE))
    assert [(event.kind, event.text) for event in run.events[-2:]] == [
        ("final", "There is no such order."),
        ("message", "Pity. Bye!"),
    ]
    (silent,) = read_rows(row(GOODBYE[0], {"role": "user", "content": "###STOP###"}))
    assert silent.events[-1].kind == "final"


def test_a_transfer_finalizes_the_run() -> None:
    transfer = call("transfer_to_human_agents", '{"summary": "x"}')
    ending = (
        {"role": "assistant", "content": None, "tool_calls": [transfer]},
        {"role": "tool", "tool_call_id": transfer["id"], "name": transfer["id"], "content": "Transfer successful"},
    )
    (run,) = read_rows(row(*ending, reward=0.0))
    assert (run.events[-1].effect, run.outcome.ended) == ("finalize", "complete")
    assert run.outcome.feedback == "The final state of the database is not the expected one."


def test_a_run_that_was_never_judged_ran_out_of_steps() -> None:
    unjudged = row({"role": "assistant", "content": "Let me see."}, reward=0.0)
    unjudged["info"]["reward_info"] = None
    (run,) = read_rows(unjudged)
    assert (run.outcome.passed, run.outcome.ended) == (False, "limit")
    assert run.events[-1].kind == "message"


def test_expected_actions_are_not_events() -> None:
    (run,) = read_rows(row(*GOODBYE))
    assert "cancel_pending_order" not in str(run)


def test_a_row_cut_off_by_the_provider_is_skipped_and_counted() -> None:
    error = {"task_id": 4, "reward": 0.0, "info": {"error": "503"}, "traj": [], "trial": 0}
    (skipped,) = read_rows(error)
    assert skipped == SkippedRun(f"{NAME}:0", "api error")


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("tool-calling-o4-mini-0.0_range_0--1_user-gpt-4o-llm_0610.json", "o4-mini"),
        ("react-llama-3-70b-1.0_range_0-5_user-gpt-4o.json", "llama-3-70b"),
        ("gpt-4o-airline.json", "gpt-4o"),
        ("sonnet-35-new-retail.json", "sonnet-35-new"),
        ("my-results.json", "my-results"),
    ],
)
def test_the_source_is_told_by_the_file_name(name: str, source: str) -> None:
    assert source_of(name) == source


def test_a_broken_row_is_a_problem_and_the_next_is_read() -> None:
    problem, run = read_rows({**row(), "traj": [{"content": "no role"}]}, row(*GOODBYE))
    assert isinstance(problem, Problem)
    assert (problem.where, "'role' is missing" in problem.what) == (f"{NAME}:0", True)
    assert run.outcome.passed


@pytest.mark.slow
def test_the_published_retail_runs_give_the_published_counts(shared_data) -> None:
    reading = read_traces([shared_data / "tau_bench/retail.tar.xz"])
    outcomes = defaultdict(set)
    count = 0
    for run in reading:
        count += 1
        outcomes[run.task_key].add(run.outcome.passed)
    assert (count, reading.skipped["api error"], reading.problems) == (411, 39, [])
    assert len(outcomes) == 75
    assert sum(found == {True, False} for found in outcomes.values()) == 50
