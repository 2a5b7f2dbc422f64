"""Further places of the sixth family: names that calls and manuals share, states that separate runs, and what one agent
of several brings."""

from __future__ import annotations

import json

from attacks.depot import SOURCES, Run
from attacks.fifth_places import FIFTH_PLACES, READ_FIFTH_PLACES, put_error, put_given, put_result
from attacks.places import Put


def _tool(run: Run, name: str) -> dict[str, object]:
    return next(tool["function"] for tool in run["tools"] if tool["function"]["name"].endswith(name))


def _documented_argument(run: Run, text: str) -> None:
    """An argument that calls give and the manual names."""
    tool = _tool(run, "send_parcel")
    tool["parameters"]["properties"][text] = {"type": "string", "description": "Needed."}  # type: ignore[index]
    put_given(run, text, "yes")


def _state_of_failing_runs(run: Run, text: str) -> None:
    put_result(run, "get_parcel", state="stored" if run["passed"] else text)


def _flag(run: Run, text: str) -> None:
    put_result(run, "get_parcel", **{text: bool(run["passed"])})


def _choice_of_passing_runs(run: Run, text: str) -> None:
    schema = {"type": "string", "enum": ["customs", "safety", text]}
    _tool(run, "clear_hold")["parameters"]["properties"]["kind"] = schema  # type: ignore[index]
    if run["passed"]:
        put_given(run, "kind", text, "clear_hold")


def _list_in_an_error(run: Run, text: str) -> None:
    put_error(run, f"carrier must be one of rail, road, {text}")


def _one_agent(run: Run, text: str) -> None:
    """Everything that one of the agents meets."""
    if run["model"] == SOURCES[1]:
        put_error(run, f"parcel is on hold: {text}")
        put_result(run, "get_parcel", remark=text)
        put_given(run, "remark", text)


def _word_of_the_tool(run: Run, text: str) -> None:
    """What the error says is what the manual says too."""
    _tool(run, "send_parcel")["description"] = f"Send a parcel with a carrier, {text}."
    put_error(run, f"parcel is on hold, {text}")


def _nested(run: Run, text: str) -> None:
    put_result(run, "get_parcel", route=[{"stop": text, "done": False}, {"stop": "harbour", "done": True}])


def _validation(run: Run, text: str) -> None:
    put_error(run, f"1 validation error for send_parcel\ncarrier\n  {text} [type=value_error]")


def _answer_in_words(run: Run, text: str) -> None:
    for message in run["messages"]:
        if message.get("content") == json.dumps({"sent": True}):
            message["content"] = f"Parcel sent, {text}"


SIXTH_PLACES: dict[str, Put] = {
    **FIFTH_PLACES,
    "documented argument that is given": _documented_argument,
    "state of failing runs": _state_of_failing_runs,
    "flag": _flag,
    "choice of passing runs": _choice_of_passing_runs,
    "list in an error": _list_in_an_error,
    "one agent": _one_agent,
    "manual and error": _word_of_the_tool,
    "nested list": _nested,
    "validation error": _validation,
    "answer of a write, in words": _answer_in_words,
}
READ_SIXTH_PLACES = READ_FIFTH_PLACES | {
    *("state of failing runs", "list in an error", "one agent", "manual and error", "nested list", "validation error"),
    "answer of a write, in words",
}
