"""The door: whoever is at a shell takes part in a benchmark, one command a step."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem_lab.agent import attempt
from contramem_lab.door import Door, DoorTarget
from contramem_lab.state_bench import StateBench, StateBenchEnvironment
from contramem_lab.target import ToolCall

MADE = Path(__file__).parent / "made_state_bench"


def test_an_agent_and_a_user_behind_doors_finish_a_task(tmp_path: Path) -> None:
    agent, user = DoorTarget(tmp_path, "agent"), DoorTarget(tmp_path, "user")
    environment = StateBenchEnvironment(StateBench(MADE, "travel"), "train", user)
    runs = []
    harness = threading.Thread(target=lambda: runs.append(attempt(environment, "cancel-one", agent)))
    harness.start()
    door = Door(tmp_path, wait_s=60)
    ask = door.next("agent")
    assert ask is not None
    assert [tool.function for tool in ask.tools] == ["get_booking", "cancel_booking"]
    assert ask.messages[-1].text == "Cancel B1, please."
    ask = door.answer(ask.key, calls=(ToolCall("cancel_booking", {"booking": "B1"}),))
    assert ask is not None
    assert [message.text for message in ask.messages] == ['{"cancelled": "B1"}']
    Door(tmp_path, wait_s=0).answer(ask.key, "It is cancelled.")
    customer = door.next("user")
    assert customer is not None
    assert "It is cancelled." in customer.messages[-1].text
    Door(tmp_path, wait_s=0).answer(customer.key, "Thanks. [TASK_DONE]")
    harness.join()
    agent.close()
    assert door.resume(ask.key) is None
    assert door.ended(ask.key)
    assert runs[0].outcome.passed


def test_a_question_is_taken_once(tmp_path: Path) -> None:
    target = DoorTarget(tmp_path, "user")
    asking = threading.Thread(target=lambda: target.reply([], ()))
    asking.start()
    ask = Door(tmp_path, wait_s=60).next("user")
    assert ask is not None
    assert Door(tmp_path, wait_s=0).next("user") is None
    Door(tmp_path, wait_s=0).answer(ask.key, "Yes.")
    asking.join()
    with pytest.raises(UsageError, match="no question of this conversation waits"):
        Door(tmp_path, wait_s=0).answer(ask.key, "Yes.")


def test_the_commands_take_part_in_a_bench(tmp_path: Path) -> None:
    def lab(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "contramem", "lab", *arguments], capture_output=True, text=True, check=True
        ).stdout

    door = str(tmp_path / "door")
    Path(door).mkdir()
    bench = subprocess.Popen(
        [sys.executable, "-m", "contramem", "lab", "bench", "state-bench", str(MADE), "--domain", "travel", "--split",
         "train", "--task", "cancel-one", "--target", door, "--user", door, "--out", str(tmp_path / "out"), "--json"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    key = re.findall(r"\[(agent-\w+)\]", lab("door", "start", door))[0]
    assert '{"cancelled": "B1"}' in lab("door", "call", door, key, "cancel_booking", '{"booking": "B1"}')
    assert "No reply yet" in lab("door", "say", door, key, "It is cancelled.", "--wait", "0")
    customer = re.findall(r"\[(user-\w+)\]", lab("door", "start", door, "--as", "user"))[0]
    assert "This conversation has ended." in lab("door", "say", door, customer, "Thanks. [TASK_DONE]")
    assert "This conversation has ended." in lab("door", "wait", door, key)
    output, _ = bench.communicate()
    assert [run["passed"] for run in json.loads(output)["runs"]] == [True]
