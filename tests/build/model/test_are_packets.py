"""Packets of ARE runs: speech is speech, the clock is there, and the judge's solution is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.model_replies import Runs

from contramem.bank.bank import Bank
from contramem.build.model.author import ModelAuthor, ModelChoice
from contramem.build.model.packet_text import packet_text
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet
from contramem.contrast.packets import contrast_all
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.exchange import Exchange
from contramem.traces.read import read_traces

GOLDEN = Path(__file__).parent / "golden"
START = 1_729_000_000.0
TASK = (
    "Write to Mia Holt (mia@kites.test) 'Is the shed free?' now. If she has not answered after 3 minutes, call the "
    "office."
)
RATIONALE = """Failure: Agent did not perform the following oracle tool call:
tool name: PhoneApp__call_office
tool args:
-number: 0151-555

List of matching attempts:
-Failure matching agent event (ID: AGENT-1) with oracle event (ID: ENV-2), reason: tool judge reject"""


def trace(model: str, waits_s: int, comment: str) -> dict[str, Any]:
    """A run as ARE exports it: the agent writes, waits, calls the office and reports."""
    events = [
        event(0, "USER", "AgentUserInterface", "send_message_to_agent", content=TASK),
        event(1, "AGENT", "Emails", "send_email", "WRITE", recipients=["mia@kites.test"], content="Is the shed free?"),
        event(2, "AGENT", "SystemApp", "wait_for_notification", timeout=waits_s),
        event(2 + waits_s, "AGENT", "Phone", "call_office", "WRITE"),
        event(3 + waits_s, "AGENT", "AgentUserInterface", "send_message_to_user", "WRITE",
              content="Mia Holt did not answer, so the office knows."),
    ]  # fmt: skip
    verdict = {"validation_decision": "Invalid" if comment else "Valid", "comment": comment, "annotator": "judge"}
    definition = {"scenario_id": "shed", "tags": ["Time"], "run_number": 1}
    return {
        "version": "are_simulation_v1",
        "metadata": {"definition": definition, "simulation": {"model_id": model}, "annotation": verdict},
        "apps": [
            {"name": name, "class_name": kind} for name, kind in (("Emails", "EmailClientV2"), ("Phone", "PhoneApp"))
        ],
        "completed_events": events,
    }


def event(after_s: float, kind: str, app: str, function: str, operation: str = "READ", **given: Any) -> dict[str, Any]:
    args = [
        {"name": name, "value": value if isinstance(value, str) else repr(value), "value_type": type(value).__name__}
        for name, value in given.items()
    ]
    action = {"app": app, "function": function, "operation_type": operation, "args": args}
    return {"event_type": kind, "event_time": START + after_s, "action": action, "metadata": {"return_value": None}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs at one Time task: one waits three minutes, the other one minute."""
    folder = tmp_path_factory.mktemp("are")
    (folder / "patient.json").write_text(json.dumps(trace("patient", 180, "")))
    (folder / "hasty.json").write_text(json.dumps(trace("hasty", 60, RATIONALE)))
    with Collection(read_traces([folder])) as pool:
        vocabulary = Vocabulary(pool)
        return Runs(contrast_all(pool, vocabulary), vocabulary)


@pytest.fixture(scope="module")
def packet(runs: Runs) -> Packet:
    return runs.packets[0]


@pytest.mark.parametrize("part", ["packet", "reflector"])
def test_a_time_run_looks_like_its_golden_file(runs: Runs, packet: Packet, part: str) -> None:
    """CONTRAMEM_GOLDEN=write makes the files anew."""
    view = packet_text(packet)
    author = ModelAuthor(ModelChoice("m"), Exchange(None), runs.checks, runs.packets)
    messages = author.reflector_request(packet, Bank()).messages
    texts = {
        "packet": f"{view.text}\n\n{view.hints}\n",
        "reflector": "".join(f"[{role}]\n{text}\n\n" for role, text in messages),
    }
    path = GOLDEN / f"are_time_{part}.txt"
    if os.environ.get("CONTRAMEM_GOLDEN") == "write":
        path.write_text(texts[part], encoding="utf-8")
    assert texts[part] == path.read_text(encoding="utf-8")


def test_what_is_said_to_the_user_counts_as_the_final_answer(packet: Packet) -> None:
    assert [run.actions[-1].label for run in packet.runs] == ["final answer", "final answer"]
    assert "final answer by AgentUserInterface.send_message_to_user: ‹<NAME_" in packet_text(packet).text


def test_the_clock_says_when_things_were_done_and_how_long_waits_took(packet: Packet) -> None:
    text = packet_text(packet).text
    assert "(at 2 s, waited 180 s)" in text
    assert "(A at 182 s; B at 62 s)" in text
    assert "3 minutes is 180 s" in text


def test_the_judge_says_what_went_wrong_and_not_what_would_be_right(packet: Packet) -> None:
    failing = packet.failing[0].feedback
    assert failing.startswith("a call that was needed is missing")
    assert "oracle" not in packet_text(packet).text
