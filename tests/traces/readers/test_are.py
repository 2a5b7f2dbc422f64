"""ARE / GAIA2: the nine traps of its traces, each with a test of its own, and how hf and lite become one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contramem.traces.read import TraceReading, read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.readers.are import MAX_LITERAL, value_of
from contramem.traces.trajectory import Trajectory


def happened(
    function: str,
    time: float,
    *,
    type: str = "AGENT",
    operation: str | None = "READ",
    id: str = "",
    returns: str | None = None,
    returns_type: str | None = None,
    exception: str | None = None,
    **arguments: tuple[Any, str | None],
) -> dict[str, Any]:
    app, _, name = function.rpartition(".")
    args = [{"name": key, "value": value, "value_type": kind} for key, (value, kind) in arguments.items()]
    return {
        "event_type": type,
        "event_time": time,
        "event_id": id or f"{type}-{function}",
        "action": {"app": app or None, "function": name, "operation_type": operation, "args": args},
        "metadata": {"return_value": returns, "return_value_type": returns_type, "exception": exception},
    }


ASKED = happened("AgentUserInterface.send_message_to_agent", 2.0, type="USER", content=("Forward m1 to Bo", "str"))
FORWARDED = happened(
    "Emails.forward_email", 4.0001, operation="WRITE", returns="f00d", returns_type="str", email_id=("m1", "str")
)
TOLD = happened("AgentUserInterface.send_message_to_user", 6.0001, operation="WRITE", content=("Done.", "str"))


def hf(*events: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "version": "are_simulation_v1",
        "apps": [{"name": "Emails", "class_name": "EmailClientV2", "app_state": None}],
        "events": [happened("Emails.delete_email", 1.0, email_id=("the oracle's secret", "str"))],
        "completed_events": list(events) or [ASKED, FORWARDED, TOLD],
        "metadata": {
            "definition": {"scenario_id": "s1", "run_number": None, "tags": ["Adaptability"]},
            "simulation": {"agent_id": "default", "model_id": "m-large"},
            "annotation": {"validation_decision": "Valid"},
        }
        | metadata,
    }


def said(time: float, thought: str, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = json.dumps({"action": action, "action_input": arguments})
    return {"role": "assistant", "content": f"Thought: {thought}\nAction:\n{call}<end_action>", "timestamp": time}


def shown(time: float, text: str, kind: str = "Observation") -> dict[str, Any]:
    return {"role": "tool-response", "content": f"[OUTPUT OF STEP 1] {kind}:\n***\n{text}\n***\n", "timestamp": time}


def told(time: float, text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": time}


TASK = told(2.0, "[TASK]: \nReceived at: now\nSender: User\nMessage: Forward m1 to Bo\nAlready read: True\n")
FORWARD = [said(4.0, "send it on", "Emails__forward_email", {"email_id": "m1"}), shown(4.1, "f00d")]
TELL = [said(6.0, "report", "AgentUserInterface__send_message_to_user", {"content": "Done."}), shown(6.1, "None")]


def lite(*history: dict[str, Any], decision: str = "Valid", rationale: str | None = None) -> dict[str, Any]:
    return {
        "scenario_id": "s1",
        "model_id": "m-large",
        "validation_decision": decision,
        "validation_rationale": rationale,
        "per_agent_interaction_histories": {"agent_1": list(history) or [TASK, *FORWARD, *TELL]},
        "per_agent_llm_usage_stats": {
            "agent_1": {"total_llm_calls": 2, "prompt_tokens": [7, 8], "completion_tokens": [1]}
        },
    }


def read(folder: Path, options: ReadOptions | None = None, **files: Any) -> tuple[list[Trajectory], TraceReading]:
    for name, document in files.items():
        (folder / f"run.{name}.json").write_text(json.dumps(document))
    reading = read_traces([folder], options)
    return list(reading), reading


def functions(run: Trajectory) -> list[str]:
    return [event.function for event in run.calls]


def test_trap_1_the_oracles_answers_in_events_are_never_read(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, hf=hf())
    assert "secret" not in str(run)


def test_trap_1_a_run_of_the_oracle_is_counted_and_left_out(tmp_path: Path) -> None:
    runs, reading = read(tmp_path, hf=hf(runner_config={"oracle": True}))
    assert runs == []
    assert dict(reading.skipped) == {"run of the oracle: answers, not an attempt": 1}


def test_trap_2_an_agents_event_that_carries_an_oracle_id_is_still_the_agents(tmp_path: Path) -> None:
    matched = {**FORWARDED, "event_id": "ENV-Emails.forward_email-1"}
    [run], _ = read(tmp_path, hf=hf(ASKED, matched, TOLD))
    assert [event.actor for event in run.events] == ["user", "agent", "agent"]


NESTED = happened("Emails.get_email_by_id", 4.00016, email_id=("m1", "str"))


def test_trap_3_with_lite_a_call_made_inside_an_app_is_not_the_agents(tmp_path: Path) -> None:
    late = {**NESTED, "event_time": 4.5}  # an app may also be slow
    [run], _ = read(tmp_path, hf=hf(ASKED, FORWARDED, late, TOLD), lite=lite())
    assert functions(run) == ["EmailClientV2.forward_email", "AgentUserInterface.send_message_to_user"]


def test_trap_3_with_lite_the_agents_own_call_of_the_same_function_stays(tmp_path: Path) -> None:
    own = {**NESTED, "event_time": 5.0001}
    look = [said(5.0, "check", "Emails__get_email_by_id", {"email_id": "m1"}), shown(5.1, "From: Bo")]
    [run], _ = read(tmp_path, hf=hf(ASKED, FORWARDED, NESTED, own, TOLD), lite=lite(TASK, *FORWARD, *look, *TELL))
    assert [(event.function, event.time) for event in run.calls][:2] == [
        ("EmailClientV2.forward_email", 4.0001),
        ("EmailClientV2.get_email_by_id", 5.0001),
    ]


def test_trap_3_without_lite_only_what_no_model_could_do_so_fast_is_left_out(tmp_path: Path) -> None:
    other_app = happened("Contacts.get_contact", 4.0002)
    later = {**NESTED, "event_time": 4.02}
    [run], _ = read(tmp_path, hf=hf(ASKED, FORWARDED, NESTED, other_app, later, TOLD))
    assert [name.partition(".")[2] for name in functions(run)] == [
        "forward_email",
        "get_contact",
        "get_email_by_id",
        "send_message_to_user",
    ]


def test_trap_4_thoughts_usage_and_rationale_come_from_lite(tmp_path: Path) -> None:
    refused = lite(decision="Invalid", rationale="Failure: wrong recipient")
    [run], _ = read(tmp_path, hf=hf(annotation={"validation_decision": "Invalid"}), lite=refused)
    assert [event.text for event in run.events if event.actor == "agent" and not event.function] == [
        "send it on",
        "report",
    ]
    assert run.outcome.passed is False
    assert run.outcome.feedback == "Failure: wrong recipient"
    assert (run.usage.model_calls, run.usage.tokens_in) == (2, 15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": [1, null]}', {"a": [1, None]}, id="json"),
        pytest.param("{'a': (1, None), 'b': b'x'}", {"a": [1, None], "b": "x"}, id="literal"),
        pytest.param("[Contact(name='Bo')]", "[Contact(name='Bo')]", id="object"),
        pytest.param("From: Bo\nTo: Al", "From: Bo\nTo: Al", id="text"),
        pytest.param("True", True, id="bool"),
        pytest.param("None", None, id="none"),
        pytest.param("__import__('os').getcwd()", "__import__('os').getcwd()", id="code"),
        pytest.param("{'a': " * 200 + "1" + "}" * 200, "{'a': " * 200 + "1" + "}" * 200, id="deep"),
        pytest.param("'" + "x" * MAX_LITERAL + "'", "'" + "x" * MAX_LITERAL + "'", id="long"),
        pytest.param("9" * 5000, "9" * 5000, id="endless-number"),
    ],
)
def test_trap_5_return_values_are_taken_back_from_their_text(text: str, value: object) -> None:
    assert value_of(text) == value


def test_trap_5_a_falsy_value_that_hf_shows_as_null_comes_from_lite(tmp_path: Path) -> None:
    listed = happened("Emails.list_emails", 4.0001, limit=("10", "int"), folder=(None, None))
    look = [said(4.0, "look", "Emails__list_emails", {}), shown(4.1, "[]")]
    [run], _ = read(tmp_path, hf=hf(ASKED, listed, TOLD), lite=lite(TASK, *look, *TELL))
    assert run.calls[0].result is not None and run.calls[0].result.content == []
    assert run.calls[0].arguments == {}, "the agent gave none; hf fills the defaults in"


def test_trap_5_without_lite_arguments_get_their_types_back(tmp_path: Path) -> None:
    sent = happened(
        "Emails.send", 4.0, to=('["a@x.org"]', "list"), limit=("10", "int"), subject=("10", "str"), cc=(None, None)
    )
    [run], _ = read(tmp_path, hf=hf(ASKED, sent))
    assert run.calls[0].arguments == {"to": ["a@x.org"], "limit": 10, "subject": "10"}


@pytest.mark.parametrize("type", ["USER", "ENV"])
def test_trap_6_the_task_is_the_users_message_whatever_its_type(tmp_path: Path, type: str) -> None:
    [run], _ = read(tmp_path, hf=hf({**ASKED, "event_type": type}, TOLD))
    assert run.task == "Forward m1 to Bo"
    assert (run.events[0].actor, run.events[0].kind) == ("user", "message")


def test_trap_7_conditions_are_noise(tmp_path: Path) -> None:
    check = happened("wrapped_condition", 3.0, type="CONDITION", operation=None)
    [run], _ = read(tmp_path, hf=hf(ASKED, check, TOLD))
    assert len(run.events) == 2


def test_trap_8_invalid_without_a_judge_is_unknown(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, hf=hf(annotation={"validation_decision": "Invalid"}), lite=lite(decision="Invalid"))
    assert run.outcome.passed is None


@pytest.mark.parametrize(("score", "passed"), [(1.0, True), (0.0, False), (None, None)])
def test_trap_8_the_score_beside_the_trace_decides(tmp_path: Path, score: float | None, passed: bool | None) -> None:
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "s1_abc.json").write_text(json.dumps(hf(annotation={"validation_decision": "Invalid"})))
    row = {"task_id": "s1", "trace_id": "/gone/hf/s1_abc.json", "score": score, "metadata": {"rationale": "because"}}
    (tmp_path / "output.jsonl").write_text(json.dumps(row) + "\n")
    [run] = read_traces([tmp_path])
    assert (run.outcome.passed, run.outcome.feedback) == (passed, "because")


def test_trap_8_a_run_that_died_is_interrupted_and_unknown(tmp_path: Path) -> None:
    died = {"scenario_id": "s1", "has_exception": True, "exception_message": "no such model"}
    [run], _ = read(tmp_path, hf=hf(definition=died, annotation={"validation_decision": "Invalid"}))
    assert (run.outcome.passed, run.outcome.ended, run.outcome.feedback) == (None, "interrupted", "no such model")


def test_trap_9_one_function_has_one_name_by_its_class(tmp_path: Path) -> None:
    [run], _ = read(tmp_path, hf=hf())
    assert run.calls[0].function == "EmailClientV2.forward_email"
    [alone], _ = read(tmp_path, hf=hf() | {"apps": []})
    assert alone.calls[0].function == "EmailClientV2.forward_email", "GAIA2 traces name no apps"


def test_either_half_alone_gives_the_same_calls(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    [from_hf], _ = read(tmp_path / "a", hf=hf())
    [from_lite], _ = read(tmp_path / "b", lite=lite())
    assert functions(from_hf) == functions(from_lite)
    assert from_hf.task == from_lite.task == "Forward m1 to Bo"
    assert from_hf.task_key == from_lite.task_key
    assert from_lite.events[-1].kind == "final"


def test_both_halves_in_folders_of_their_own_are_one_run(tmp_path: Path) -> None:
    for half, document in (("hf", hf()), ("lite", lite())):
        (tmp_path / half).mkdir()
        (tmp_path / half / "s1_abc.json").write_text(json.dumps(document))
    [run] = read_traces([tmp_path])
    assert run.usage.model_calls == 2


def test_only_the_last_message_to_the_user_ends_the_run(tmp_path: Path) -> None:
    first = {**TOLD, "event_time": 3.0}
    mail = happened("Emails.send_email_to_user_only", 5.0, type="ENV", content=("Tuesday?", "str"))
    [run], _ = read(tmp_path, hf=hf(ASKED, first, mail, TOLD))
    assert [(event.actor, event.kind, event.effect) for event in run.events[1:]] == [
        ("agent", "call", "write"),
        ("environment", "notification", "unknown"),
        ("agent", "final", "finalize"),
    ]
    assert run.events[-1].text == "Done."
    assert run.ability == "adaptability"


def test_waits_are_waits_and_their_time_out_is_a_notification(tmp_path: Path) -> None:
    wait = happened("SystemApp.wait_for_notification", 4.0001, timeout=("180", "int"))
    asked = [said(4.0, "wait", "SystemApp__wait_for_notification", {"timeout": 180}), shown(184.0, "None")]
    over = told(184.1, "Environment notifications updates:\n***\n[t] SystemApp: Wait timeout reached\n***\n")
    late = {**TOLD, "event_time": 190.1}
    [run], _ = read(
        tmp_path,
        hf=hf(ASKED, wait, late),
        lite=lite(TASK, *asked, over, said(190.0, "report", "AgentUserInterface__send_message_to_user", {})),
    )
    kinds = [event.kind for event in run.events]
    assert kinds.index("wait") < kinds.index("notification")
    assert run.calls[0].effect == "wait"


def test_a_held_call_did_not_run_and_an_unknown_tool_failed(tmp_path: Path) -> None:
    held = [
        said(3.0, "try", "Emails__forward_email", {"email_id": "m1"}),
        shown(3.1, "card: ids come from list_emails"),
    ]
    wrong = [
        said(3.5, "guess", "Emails__fwd", {}),
        shown(3.6, "Error: X\nException: unknown tool\nCategory: E", "ERROR"),
    ]
    [run], _ = read(tmp_path, hf=hf(), lite=lite(TASK, *held, *wrong, *FORWARD, *TELL))
    assert functions(run) == [
        "EmailClientV2.fwd",
        "EmailClientV2.forward_email",
        "AgentUserInterface.send_message_to_user",
    ]
    assert run.calls[0].result is not None and run.calls[0].result.error == "unknown tool"
    assert "card: ids come from list_emails" in [event.text for event in run.events if event.kind == "observation"]


def test_scenarios_and_inventories_are_not_traces(tmp_path: Path) -> None:
    scenario = hf() | {"completed_events": []}
    (tmp_path / "scenario.json").write_text(json.dumps(scenario))
    (tmp_path / "apps.json").write_text('[{"app": "Emails", "function": "send_email"}]')
    reading = read_traces([tmp_path])
    assert list(reading) == []
    assert (reading.ignored, reading.problems) == (2, [])


def test_a_malformed_run_is_a_problem_and_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(hf({"event_type": "AGENT", "event_time": 1.0})))
    runs, reading = read(tmp_path, hf=hf())
    assert len(runs) == 1
    [problem] = reading.problems
    assert "bad.json" in problem.where and "missing" in problem.what


def test_outcomes_of_runs_that_left_no_trace_are_counted(tmp_path: Path) -> None:
    row = {"task_id": "s1", "trace_id": None, "score": None, "metadata": {"status": "exception"}}
    (tmp_path / "output.jsonl").write_text(json.dumps(row) + "\n")
    reading = read_traces([tmp_path])
    assert list(reading) == []
    assert dict(reading.skipped) == {"no trace was exported": 1}


def test_the_recorded_runs_read_whole(shared_data: Path) -> None:
    reading = read_traces([shared_data / "are"])
    runs = {run.origin.file.rpartition("/")[2].partition(".")[0]: run for run in reading}
    assert {name: run.outcome.passed for name, run in runs.items()} == {
        "scripted_adaptability_2turn_pass": True,
        "scripted_scenario_tutorial": True,
        "scripted_time_early_fail": False,
        "scripted_time_pass": True,
    }
    assert reading.problems == [] and reading.ignored == 3 and sum(reading.skipped.values()) == 1
    assert functions(runs["scripted_scenario_tutorial"]).count("EmailClientApp.get_email_by_id") == 0
    assert runs["scripted_time_pass"].task_key == runs["scripted_time_early_fail"].task_key


def test_the_system_prompt_is_kept_without_its_list_of_tools(tmp_path: Path) -> None:
    listed = (
        "- Emails__send_email: Acts on app Emails: Sends.\n    Takes inputs: {}\n    Returns an output of type: any\n"
    )
    prompt = {"role": "system", "content": f"You help.\n\n{listed}\nToday's date is 2024-10-15 13", "timestamp": 1.0}
    document = lite(prompt, TASK, *FORWARD, *TELL)
    [run], _ = read(tmp_path, hf=hf(), lite=document)
    assert run.system == "You help.\n\n\nToday's date is 2024-10-15 13"
    (tmp_path / "run.hf.json").unlink()
    [alone], _ = read(tmp_path, lite=document)
    assert alone.system == run.system
