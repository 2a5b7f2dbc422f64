"""Agents that work on code in a repository: OpenHands, SWE-agent, mini-swe-agent, and Cline with its descendants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, decode, number
from contramem.traces.map import at
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.outcomes import verdict_of
from contramem.traces.reader import CODING_SESSION, Reading, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import call_entry, is_message, record_message, tool_message, whole
from contramem.traces.readers.records import first_messages, label, read_records
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Trajectory, digest

Event = Mapping[str, Any]

# OpenHands. Events of its first generation are an `action` with `args` or an `observation` with `content`, tied by
# `cause` or by the tool call's id; the SDK's are `ActionEvent`, `ObservationEvent` and so on, tied by `tool_call_id`.
#
#     {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls"}}
#     {"id": 3, "observation": "run", "content": "a.py", "cause": 2}
#
#     {"kind": "ActionEvent", "tool_name": "terminal", "tool_call_id": "c1", "action": {"command": "ls"}}
#     {"kind": "ObservationEvent", "tool_call_id": "c1", "observation": {"content": [{"type": "text", "text": "a.py"}]}}

_EVENT_FILE = re.compile(r"(?:event-)?(\d+)(?:-.*)?\.json")
_TOOLS = {"run": "execute_bash", "run_ipython": "execute_ipython_cell", "read": "read", "write": "write",
          "edit": "edit", "browse": "browse", "browse_interactive": "browser", "finish": "finish",
          "delegate": "delegate", "call_tool_mcp": "mcp"}  # fmt: skip
_ARGUMENTS = "command code path content file_text old_str new_str url browser_actions start end view_range".split()
_RECORDED_IN_ARGS = ("thought", "security_risk", "confirmation_state", "hidden", "blocking", "is_confirmed")
_SILENT = ("agent_state_changed", "null", "condense", "recall", "loop_detection")


def is_openhands(file: TraceFile) -> bool:
    head = file.head
    if isinstance(head, list):
        return bool(head) and _is_event(head[0])
    return isinstance(head, dict) and (_has_history(head) or _is_event(head))


def read_openhands(file: TraceFile, options: ReadOptions) -> Reading:
    """`output.jsonl` of its evaluation (one run per line), event logs as one list, and folders of event files
    (`events/event-00000-….json`), where the first file stands for the run and the others are read with it.

    {"instance_id": "t1", "instruction": "...", "metadata": {"llm_config": {"model": "..."}}, "history": [events],
     "report": {"resolved": true}}
    """

    def build(record: Any, position: str) -> Trajectory | SkippedRun | None:
        if isinstance(record, dict) and "history" in record:
            return _evaluated(record, Origin(file.origin, position), options)
        if isinstance(record, list):
            return _openhands_session(record, file, options)
        numbered = _EVENT_FILE.fullmatch(file.name)
        is_first = numbered is None or int(numbered[1]) == 0
        return _openhands_session(_events_beside(record, file), file, options) if is_first else None

    records: Iterable[tuple[object, Any]] = file.lines() if file.is_lines else [("", file.document)]
    if file.is_lines and _is_event(file.head):
        records = [("", [line for _, line in file.lines() if isinstance(line, dict)])]
    return each_run(file, records, build)


def _has_history(record: Event) -> bool:
    history = record.get("history")
    if not isinstance(history, list) or not history or not ("instance_id" in record or "instruction" in record):
        return False
    return _is_event(history[0][0] if isinstance(history[0], list) and history[0] else history[0])


def _is_event(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("kind"), str) and value["kind"].endswith("Event"):
        return "source" in value or "timestamp" in value
    is_either = isinstance(value.get("action") or value.get("observation"), str)
    return is_either and any(name in value for name in ("args", "content", "thought", "command"))


def _events_beside(first: Event, file: TraceFile) -> list[Event]:
    names = {
        int(match[1]): path.name for path in file.path.parent.iterdir() if (match := _EVENT_FILE.fullmatch(path.name))
    }
    others = (file.beside(names[number]) for number in sorted(names) if number)
    documents = (other.document for other in others if other is not None)
    return [first, *(document for document in documents if isinstance(document, dict))]


def _evaluated(record: Event, origin: Origin, options: ReadOptions) -> Trajectory:
    recorder = Recorder(options.naming("openhands"))
    # Older outputs pair each action with its observation.
    events = [event for entry in record["history"] for event in (entry if isinstance(entry, list) else [entry])]
    asked = next(filter(None, [_record_event(recorder, event) for event in events]), "")
    task = text_of(record.get("instruction")) or asked
    metadata, issue = record.get("metadata") or {}, record.get("issue") or {}
    named = record.get("instance_id") or (f"{issue.get('repo')}#{issue['number']}" if issue.get("number") else None)
    model = label((metadata.get("llm_config") or {}).get("model"), "model")
    holders = [holder for holder in (record.get("report"), record.get("test_result"), record)
               if isinstance(holder, dict)]  # fmt: skip
    verdicts = (holder.get(key) for holder in holders for key in ("resolved", "success", "passed"))
    verdict = next((verdict for verdict in verdicts if verdict is not None), None)
    error = text_of(record.get("error"))
    limit = "maximum iteration" in error.lower() or "stuck" in error.lower()
    ended: Ending = "limit" if limit else "interrupted" if error else "complete"
    return Trajectory(
        environment=CODING_SESSION,
        task_id=label(named, "instance_id") or digest(task),
        source=model or label(metadata.get("agent_class"), "agent") or "openhands",
        origin=origin,
        events=recorder.events(),
        outcome=Outcome(verdict_of(verdict)[0], None, error[:2000], ended),
        task=task,
        usage=RunUsage(cost_usd=number((record.get("metrics") or {}).get("accumulated_cost"))),
    )


def _openhands_session(events: list[Event], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    recorder = Recorder(options.naming("openhands"))
    task = next(filter(None, [_record_event(recorder, event) for event in events]), "")
    if not task:
        return SkippedRun(file.origin, "session without a prompt")
    return Trajectory(
        environment=CODING_SESSION,
        task_id=digest(task),
        source=_openhands_model(events, file) or "openhands",
        origin=Origin(file.origin),
        events=recorder.events(),
        run=file.path.parent.parent.name if _EVENT_FILE.fullmatch(file.name) else file.name.partition(".")[0],
        task=task,
        authored=True,
    )


def _openhands_model(events: list[Event], file: TraceFile) -> str | None:
    """From the model's own replies, which older events carry, or from the SDK's state one folder up."""
    named = (at(event, "tool_call_metadata.model_response.model") for event in events)
    if (model := next((name for name in named if isinstance(name, str)), None)) is not None:
        return model
    state = file.beside("../base_state.json")
    model = at(state.document, "agent.llm.model") if state is not None else None
    return model if isinstance(model, str) else None


def _record_event(recorder: Recorder, event: Event) -> str:
    """Record one event. Returns what the user said in it."""
    if isinstance(event.get("kind"), str):
        return _record_sdk_event(recorder, event)
    if isinstance(event.get("observation"), str):
        _record_observation(recorder, event)
        return ""
    action = event.get("action")
    args = event["args"] if isinstance(event.get("args"), dict) else event
    if action == "message":
        opens = "source" not in event and "thought" not in event and not event.get("id")
        return _say(recorder, text_of(args.get("content")), event.get("source") == "user" or opens)
    tool = event.get("tool_call_metadata") or {}
    name = tool.get("function_name") or _TOOLS.get(str(action))
    if name is None:
        return ""
    recorder.message("agent", text_of(args.get("thought")))
    if "args" not in args and "action" in args:  # the oldest files spread the arguments over the event
        given = {name: args[name] for name in _ARGUMENTS if name in args}
    else:
        given = {name: said for name, said in args.items() if name not in _RECORDED_IN_ARGS and said is not None}
    recorder.call(str(name), given, _tie(tool.get("tool_call_id"), event.get("id")))
    return ""


def _say(recorder: Recorder, text: str, is_user: bool) -> str:
    recorder.message("user" if is_user else "agent", text)
    return text if is_user else ""


def _tie(call_id: object, event_id: object) -> str | None:
    return str(call_id) if call_id else None if event_id is None else f"event-{event_id}"


def _record_observation(recorder: Recorder, event: Event) -> None:
    kind = event["observation"]
    if kind in _SILENT:
        return
    extras = event["extras"] if isinstance(event.get("extras"), dict) else {}
    code = (extras.get("metadata") or {}).get("exit_code", extras.get("exit_code", event.get("exit_code")))
    text = text_of(event.get("content"))
    content = {"exit_code": code, "output": text} if isinstance(code, int) and kind == "run" else text
    call_id = (event.get("tool_call_metadata") or {}).get("tool_call_id")
    recorder.result(content, _tie(call_id, event.get("cause")), error=True if kind == "error" else None)


def _record_sdk_event(recorder: Recorder, event: Event) -> str:
    kind = event["kind"]
    if kind == "MessageEvent":
        message = event.get("llm_message") or {}
        is_user = event.get("source") == "user" or message.get("role") == "user"
        return _say(recorder, text_of(message.get("content")), is_user)
    if kind == "ActionEvent":
        recorder.message("agent", text_of(event.get("thought")))
        action = event["action"] if isinstance(event.get("action"), dict) else {}
        arguments = {name: value for name, value in action.items() if name != "kind" and value is not None}
        recorder.call(str(event.get("tool_name") or "unnamed"), arguments, event.get("tool_call_id"))
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        seen = event.get("observation")
        failed = kind == "AgentErrorEvent" or (isinstance(seen, dict) and seen.get("is_error") is True)
        recorder.result(_sdk_result(event, seen), event.get("tool_call_id"), error=True if failed else None)
    return ""


def _sdk_result(event: Event, observation: object) -> object:
    if not isinstance(observation, dict):
        return text_of(event.get("error") or observation)
    text, code = text_of(observation.get("content") or observation.get("output")), observation.get("exit_code")
    return {"exit_code": code, "output": text} if isinstance(code, int) else text


# SWE-agent


def is_swe_agent(file: TraceFile) -> bool:
    head = file.head
    if not isinstance(head, dict) or not isinstance(head.get("trajectory"), list):
        return False
    steps = head["trajectory"]
    return "info" in head and (not steps or (isinstance(steps[0], dict) and "observation" in steps[0]))


def swe_agent(document: Event, file: TraceFile, options: ReadOptions) -> Trajectory:
    """`.traj`: `history` with tool calls, or in older files `trajectory` with one shell command per step.

    {"info": {"exit_status": "submitted", "model_stats": {...}}, "replay_config": "...",
     "trajectory": [{"thought": "...", "action": "ls", "observation": "a.py"}],
     "history": [{"role": "user", "content": "..."}, {"role": "assistant", "tool_calls": [...]},
                 {"role": "tool", "content": "a.py", "tool_call_ids": ["c1"]}]}

    The file is named after the task. The verdict is in SWE-bench's report, which is looked for beside the run."""
    info, history = document.get("info") or {}, document.get("history") or []
    recorder = Recorder(options.naming("swe-agent"))
    turns = [message for message in history if not message.get("is_demo")]
    task = next((text_of(turn.get("content")) for turn in turns if turn["role"] == "user"), "")
    if any(turn.get("tool_calls") for turn in turns):
        for turn in turns:
            record_message(recorder, turn)
    else:
        recorder.message("user", task)
        for step in document["trajectory"]:
            recorder.message("agent", text_of(step.get("thought")))
            # What SWE-agent itself writes into the action when it ends a run (`exit_cost`) is no action.
            if (action := text_of(step.get("action")).strip()) and not _EXIT.fullmatch(action):
                is_end = action == "submit"
                recorder.call("submit" if is_end else "bash", {} if is_end else {"command": action})
                recorder.result(text_of(step.get("observation")))
    stats = info.get("model_stats") or {}
    calls, sent, received = (whole(stats.get(name)) for name in ("api_calls", "tokens_sent", "tokens_received"))
    return Trajectory(
        environment=CODING_SESSION,
        task_id=file.name.partition(".")[0] or "unknown",
        source=_configured_model(document) or _folder_of(file),
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=Outcome(ended=_swe_ending(str(info.get("exit_status") or ""))),
        task=task,
        system=recorder.system,
        usage=RunUsage(calls, sent, received, number(stats.get("instance_cost"))),
    )


_EXIT = re.compile(r"exit_\w+")


def _folder_of(file: TraceFile) -> str:
    """The folder that holds the runs of one agent; in the experiments of SWE-bench they lie in its `trajs/`."""
    folder = file.path.parent
    return (folder.parent.name if folder.name == "trajs" else folder.name) or "unknown"


def _configured_model(document: Event) -> str | None:
    """The model of the agent's configuration, which older files keep as JSON text."""
    config = document.get("replay_config")
    try:
        config = decode(config.encode("utf-8", "replace")) if isinstance(config, str) else config
    except TraceError:
        return None
    name = at(config, "agent.model.name", "agent.model.model_name")
    return name if isinstance(name, str) else None


def _swe_ending(status: str) -> Ending:
    if status.startswith("submitted") and "(" not in status:
        return "complete"
    if any(word in status for word in ("cost", "limit", "context", "timeout", "format")):
        return "limit"
    return "complete" if status in ("", "skipped") or status.startswith("submitted") else "interrupted"


# mini-swe-agent

MINI_SUFFIX = ".traj.json"
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-swe-agent prints to end its run."""
MINI_BLOCK = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n?```", re.DOTALL)
_ENDINGS: dict[str, Ending] = {"Submitted": "complete", "": "complete", "LimitsExceeded": "limit",
                               "TimeExceeded": "limit"}  # fmt: skip


def is_mini_swe_agent(file: TraceFile) -> bool:
    head = file.head
    if isinstance(head, dict):
        return str(head.get("trajectory_format")).startswith("mini-swe-agent")
    is_list = file.path.name.endswith(MINI_SUFFIX) and isinstance(head, list) and bool(head)
    return is_list and isinstance(head[0], dict) and "role" in head[0]


def mini_swe_agent(document: Any, file: TraceFile, options: ReadOptions) -> Trajectory:
    r"""`.traj.json`: `trajectory_format: mini-swe-agent-1.*`, or the bare list of messages of version 1.

    {"trajectory_format": "mini-swe-agent-1", "info": {"exit_status": "Submitted", "model_stats": {...}}, "messages": [
      {"role": "user", "content": "Fix it."},
      {"role": "assistant", "content": "I look.\n```bash\nls\n```"},
      {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"}]}

    Every step is one shell command. The file is named after the task; the verdict is in SWE-bench's report."""
    messages, info = (document, {}) if isinstance(document, list) else (document["messages"], document["info"])
    recorder = Recorder(options.naming("mini-swe-agent"))
    asked = next((place for place, message in enumerate(messages) if message["role"] == "user"), -1)
    task = text_of(messages[asked].get("content")) if asked >= 0 else ""
    recorder.message("user", task)
    for message in messages[asked + 1 :]:
        if not _record_mini(recorder, message):
            break
    stats = info.get("model_stats") or {}
    return Trajectory(
        environment=CODING_SESSION,
        task_id=file.path.name.removesuffix(MINI_SUFFIX).removesuffix(".json"),
        source=str(((info.get("config") or {}).get("model") or {}).get("model_name") or _folder_of(file)),
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=Outcome(ended=_ENDINGS.get(str(info.get("exit_status") or ""), "interrupted")),
        task=task,
        usage=RunUsage(model_calls=whole(stats.get("api_calls")), cost_usd=number(stats.get("instance_cost"))),
    )


def _record_mini(recorder: Recorder, message: dict[str, Any]) -> bool:
    """False: with this message the agent has ended its run."""
    role, text, extra = message["role"], text_of(message.get("content")), message.get("extra") or {}
    if role == "assistant":
        actions = extra.get("actions")  # what the harness took as commands; older files leave it to the code block
        listed = actions if isinstance(actions, list) else []
        commands = [str(action["command"]) for action in listed if isinstance(action, dict) and action.get("command")]
        commands = commands if isinstance(actions, list) else MINI_BLOCK.findall(text)[:1]
        ends = any(SUBMIT in command for command in commands)
        recorder.message("agent", MINI_BLOCK.sub("", text).strip() or ("Submitted." if ends else ""))
        for command in () if ends else commands:
            recorder.call("bash", {"command": command})
        return not ends
    if role in ("user", "tool"):  # after the task, the harness speaks in the user's place
        code = whole(extra.get("returncode"))
        content = extra["raw_output"] if isinstance(extra.get("raw_output"), str) else text
        recorder.result(content if code is None else {"exit_code": code, "output": content})
    return True


# Cline, Roo Code and Kilo Code

_EDITOR = "<environment_details>"
_TASK = re.compile(r"<(task|user_message|feedback)>\s*(.*?)\s*</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(\w+)[^\n]{0,2000}?\] Result:\s*")
_FAILED = ("The tool execution failed", "The user denied this operation", "Error executing ")
_TAG = re.compile(r"<(\w+)>")
_END = "attempt_completion"


def claims_cline(file: TraceFile) -> bool:
    """Does the first message end in what the editor says about itself?"""
    messages = first_messages(file)
    return bool(messages) and any(text.lstrip().startswith(_EDITOR) for text in _texts(messages[0]))


def read_cline(file: TraceFile, options: ReadOptions) -> Reading:
    r"""Tasks: `tasks/<id>/api_conversation_history.json`, a list of Anthropic messages.

    {"role": "user", "content": [{"type": "text", "text": "<task>Fix it.</task>"}, {... "<environment_details>..."}]}
    {"role": "assistant", "content": [{"type": "tool_use", "name": "read_file", "input": {"path": "a.py"}}]}
    {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a.py'] Result:\n..."}]}

    A result is a text that names its tool; it belongs to the first call of the turn that has none yet. Older versions
    write calls as markup in the text: `<read_file><path>a.py</path></read_file>`."""
    folder = file.path.parent.name
    return read_records(file, options, lambda record: _cline_record(record, folder))


def _cline_record(record: Any, folder: str) -> Any:
    if not isinstance(record, list):
        return record
    messages: list[Any] = []
    waiting: list[tuple[str, str]] = []
    for turn, message in enumerate(record):
        if not is_message(message):
            messages.append(message)  # records.py says what is wrong with it
        elif message["role"] == "assistant":
            said = _agent_message(message, record[turn + 1 : turn + 2], turn)
            waiting = [(call["id"], call["function"]["name"]) for call in said["tool_calls"]]
            messages.append(said)
        else:
            messages += _user_messages(message, waiting)
    return {"environment": CODING_SESSION, "trial": folder, "messages": messages}


def _blocks(message: Event) -> list[Event]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    listed = content if isinstance(content, list) else []
    return [block for block in listed if isinstance(block, dict)
            and (block.get("type") != "text" or isinstance(block.get("text"), str))]  # fmt: skip


def _texts(message: Event) -> list[str]:
    return [block["text"] for block in _blocks(message) if block.get("type") == "text"]


def _agent_message(message: Event, answer: list[Any], number: int) -> dict[str, Any]:
    text = "\n".join(_texts(message))
    calls = [(block.get("id"), str(block.get("name")), block.get("input"))
             for block in _blocks(message) if block.get("type") == "tool_use"]  # fmt: skip
    if not calls:  # markup counts where the next message brings a result of that tool
        answers = [said for after in answer if isinstance(after, dict) for said in _texts(after)]
        answered = {match[1] for said in answers if (match := _RESULT.match(said))}
        text, calls = _written_calls(text, {_END, *answered})
    ended = [given for _, name, given in calls if name == _END and isinstance(given, dict)]
    tokens = at(message, "metrics.tokens")
    counts = tokens if isinstance(tokens, dict) else {}
    return {
        "role": "assistant",
        "content": "\n".join([text.strip(), *(text_of(given.get("result")) for given in ended)]).strip(),
        "tool_calls": [call_entry(call_id or f"{number}.{place}", name, given)
                       for place, (call_id, name, given) in enumerate(calls) if name != _END],
        "model": at(message, "modelInfo.modelId"),
        "usage": {"prompt_tokens": counts.get("prompt"), "completion_tokens": counts.get("completion")},
    }  # fmt: skip


def _written_calls(text: str, tools: set[str]) -> tuple[str, list[tuple[Any, str, Any]]]:
    """(the text without its calls, the calls) of a message that writes them as markup."""
    calls: list[tuple[Any, str, Any]] = []
    for tool in sorted(tools):
        start, end = text.find(f"<{tool}>"), text.rfind(f"</{tool}>")
        if 0 <= start < end:
            calls.append((None, tool, _parameters(text[start + len(tool) + 2 : end])))
            text = text[:start] + text[end + len(tool) + 3 :]
    return text, calls


def _parameters(markup: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    opened = _TAG.search(markup)
    while opened is not None and (end := markup.find(f"</{opened[1]}>", opened.end())) >= 0:
        parameters[opened[1]] = markup[opened.end() : end].strip("\n")
        opened = _TAG.search(markup, end)
    return parameters


def _user_messages(message: Event, waiting: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Results, and what the user wrote. Everything else is the editor's."""
    blocks = iter(_blocks(message))
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "tool_result":
            waiting[:] = [call for call in waiting if call[0] != block.get("tool_use_id")]
            yield {"role": "user", "content": [block]}
        elif not isinstance(text, str):
            continue
        elif match := _RESULT.match(text):
            result = text[match.end() :] or next((text_of(after.get("text")) for after in blocks), "")
            error = True if result.startswith(_FAILED) else None
            yield tool_message(_take_call(match[1], waiting), result, error=error)
        else:
            yield from ({"role": "user", "content": found[2]} for found in _TASK.finditer(text))


def _take_call(tool: str, waiting: list[tuple[str, str]]) -> str:
    """The id of the call that a result answers: the first of this tool, else the first that waits."""
    place = next((place for place, call in enumerate(waiting) if call[1] == tool), 0)
    return waiting.pop(place)[0] if waiting else "none"
