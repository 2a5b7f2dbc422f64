"""Claude Code sessions: a tree of entries, one session a file."""

import json

from contramem.traces.files import TraceFile
from contramem.traces.outcomes import OutcomeRows
from contramem.traces.read import read_traces, readers
from contramem.traces.reader import Problem, ReadOptions, SkippedRun


def user(uuid: str, parent: str | None, content: object, **more: object) -> dict:
    return entry("user", uuid, parent, {"role": "user", "content": content}, **more)


def agent(uuid: str, parent: str | None, *blocks: dict, reply: str = "", **more: object) -> dict:
    message = {"role": "assistant", "id": reply or uuid, "model": "claude-x", "content": list(blocks)}
    return entry("assistant", uuid, parent, {**message, "usage": {"input_tokens": 3, "output_tokens": 1}}, **more)


def entry(kind: str, uuid: str, parent: str | None, message: dict, **more: object) -> dict:
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "isSidechain": False}
    return {**base, "message": message, **more}


def text(said: str) -> dict:
    return {"type": "text", "text": said}


def use(name: str, call_id: str, **arguments: object) -> dict:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: str, **more: object) -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


SESSION = [
    {"type": "summary", "summary": "Earlier work", "leafUuid": "x"},
    {"type": "file-history-snapshot", "messageId": "m"},
    user("0", None, "Caveat: not typed", isMeta=True),
    user("1", "0", "Fix the test"),
    agent("2", "1", text("Looking."), reply="r1"),
    agent("3", "2", use("Bash", "a", command="pytest"), reply="r1"),
    agent("4", "3", use("mcp__git__diff", "b"), reply="r1"),
    user("5", "3", [result("a", "Error: 1 failed", is_error=True)]),
    user("6", "4", [result("b", "Error pages were changed")]),
    agent("7", "6", text("Fixed.")),
    {"type": "last-prompt", "lastPrompt": "Fix the test", "sessionId": "s-1"},
]


def file_of(*entries: dict, name: str = "s-1.jsonl") -> TraceFile:
    return TraceFile.of_bytes(name, "\n".join(map(json.dumps, entries)).encode())


def read(*entries: dict) -> list:
    file = file_of(*entries)
    assert readers()["claude-code"].claims(file)
    return list(readers()["claude-code"].read(file, ReadOptions()))


def test_a_session_is_one_run_of_its_first_prompt() -> None:
    (run,) = read(*SESSION)
    assert (run.task, run.authored, run.run, run.source) == ("Fix the test", True, "s-1", "claude-x")
    assert run.outcome.passed is None
    assert [(event.kind, event.text or event.function) for event in run.events] == [
        ("message", "Fix the test"),
        ("message", "Looking."),
        ("call", "shell.pytest"),
        ("call", "git.diff"),
        ("final", "Fixed."),
    ]


def test_results_of_parallel_calls_are_kept_and_only_marked_errors_are_errors() -> None:
    (run,) = read(*SESSION)
    assert [call.result.error for call in run.calls] == ["Error: 1 failed", None]


def test_a_reply_in_several_entries_is_counted_once() -> None:
    (run,) = read(*SESSION)
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.tokens_out) == (2, 6, 2)


def test_a_prompt_that_was_edited_takes_its_branch_with_it() -> None:
    (run,) = read(
        *SESSION,
        user("8", "7", "Now delete all"),
        agent("9", "8", use("Bash", "c", command="rm")),
        user("10", "9", [result("c", "gone")]),
        user("11", "7", "Now commit"),
        agent("12", "11", text("Committed.")),
    )
    assert [event.text for event in run.events[-2:]] == ["Now commit", "Committed."]
    assert "rm" not in str(run)


def test_a_compaction_summary_is_no_user_message() -> None:
    (run,) = read(
        *SESSION[:4],
        {"type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": "1", "sessionId": "s-1"},
        user("d", "c", "Summary of it all", isCompactSummary=True),
        user("e", "d", "Go on"),
    )
    assert [event.text for event in run.events] == ["Fix the test", "Go on"]


def test_a_subagent_belongs_to_its_session() -> None:
    inside = [user("x", None, "Explore", isSidechain=True), agent("y", "x", text("Seen."), isSidechain=True)]
    (run,) = read(*SESSION, *inside)
    assert "Explore" not in str(run)
    file = file_of(*inside, name="agent-1.jsonl")
    assert readers()["claude-code"].claims(file)
    assert list(readers()["claude-code"].read(file, ReadOptions())) == [
        SkippedRun("agent-1.jsonl", "subagent of a session")
    ]


def test_a_slash_command_is_the_task_only_when_nothing_is_said_in_words() -> None:
    command = user("1", None, "<command-name>/fix</command-name>\n<command-args>issue 7</command-args>")
    (run,) = read(command, agent("2", "1", text("Done.")))
    assert run.task == "/fix issue 7"
    (run,) = read(command, user("2", "1", "Fix issue 8"))
    assert run.task == "Fix issue 8"


def test_a_provider_that_fails_at_the_end_has_cut_the_run_off() -> None:
    failure = agent("8", "7", text("API Error: 529"), isApiErrorMessage=True)
    failure["message"]["model"] = "<synthetic>"
    (run,) = read(*SESSION, failure)
    assert (run.outcome.ended, run.source) == ("interrupted", "claude-x")
    assert run.events[-1].kind == "notification"


def test_an_incomplete_line_is_a_problem_and_the_rest_is_read() -> None:
    content = "\n".join(map(json.dumps, SESSION)) + '\n{"type": "assis'
    file = TraceFile.of_bytes("s-1.jsonl", content.encode())
    problem, run = readers()["claude-code"].read(file, ReadOptions())
    assert isinstance(problem, Problem)
    assert problem.where == "s-1.jsonl:12"
    assert len(run.calls) == 2


def test_outcomes_are_matched_by_session_id(tmp_path) -> None:
    (tmp_path / "anything.jsonl").write_text("\n".join(map(json.dumps, SESSION)))
    outcomes = OutcomeRows({"s-1": {"passed": "true", "task_id": "t1"}}, "outcomes.csv")
    (run,) = read_traces([tmp_path], ReadOptions(outcomes=outcomes))
    assert (run.outcome.passed, run.task_id) == (True, "t1")


def test_the_real_samples_are_read(shared_data) -> None:
    reading = read_traces([shared_data / "formats/claude-code"])
    runs = {run.origin.file.rpartition("/")[2]: run for run in reading}
    assert (len(runs), reading.problems, dict(reading.skipped)) == (5, [], {"subagent of a session": 1})
    held = runs["generated_cli_2.1.325_hooks.jsonl"]
    assert [bool(call.result.error) for call in held.calls] == [True, False]
