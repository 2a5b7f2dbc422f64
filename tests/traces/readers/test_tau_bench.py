"""tau-bench results: rows of a list, the model in the file name."""

import json
from collections import defaultdict

import pytest

from contramem.traces.files import TraceFile
from contramem.traces.read import read_traces
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.tau_bench import TauBenchReader, source_of

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


def read(*rows: object, name: str = NAME) -> list:
    file = TraceFile.of_bytes(name, json.dumps(rows).encode())
    return list(TauBenchReader().read(file, ReadOptions()))


def test_a_row_is_a_run_of_the_model_in_the_file_name() -> None:
    (run,) = read(row(*GOODBYE))
    assert (run.environment, run.task_id, run.run, run.ability) == ("tau-bench/retail", "3", "1", "retail")
    assert (run.source, run.task, run.authored) == ("gpt-4.1-mini", "You want to cancel #W1.", True)
    assert run.outcome.passed
    assert run.calls[0].function == "retail.get_order"
    assert run.calls[0].result.error == "Error: order not found"


def test_the_answer_before_the_goodbye_is_final_and_the_stop_token_is_dropped() -> None:
    (run,) = read(row(*GOODBYE))
    assert [(event.kind, event.text) for event in run.events[-2:]] == [
        ("final", "There is no such order."),
        ("message", "Pity. Bye!"),
    ]
    (silent,) = read(row(GOODBYE[0], {"role": "user", "content": "###STOP###"}))
    assert silent.events[-1].kind == "final"


def test_a_transfer_finalizes_the_run() -> None:
    transfer = call("transfer_to_human_agents", '{"summary": "x"}')
    ending = (
        {"role": "assistant", "content": None, "tool_calls": [transfer]},
        {"role": "tool", "tool_call_id": transfer["id"], "name": transfer["id"], "content": "Transfer successful"},
    )
    (run,) = read(row(*ending, reward=0.0))
    assert (run.events[-1].effect, run.outcome.ended) == ("finalize", "complete")
    assert run.outcome.feedback == "The final state of the database is not the expected one."


def test_a_run_that_was_never_judged_ran_out_of_steps() -> None:
    unjudged = row({"role": "assistant", "content": "Let me see."}, reward=0.0)
    unjudged["info"]["reward_info"] = None
    (run,) = read(unjudged)
    assert (run.outcome.passed, run.outcome.ended) == (False, "limit")
    assert run.events[-1].kind == "message"


def test_expected_actions_are_not_events() -> None:
    (run,) = read(row(*GOODBYE))
    assert "cancel_pending_order" not in str(run)


def test_a_row_cut_off_by_the_provider_is_skipped_and_counted() -> None:
    error = {"task_id": 4, "reward": 0.0, "info": {"error": "503"}, "traj": [], "trial": 0}
    (skipped,) = read(error)
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
    problem, run = read({**row(), "traj": [{"content": "no role"}]}, row(*GOODBYE))
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
