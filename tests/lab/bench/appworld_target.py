"""Scripted code agents for the server in appworld_server.py: one logs in before it writes, one does not, and one logs
in only if a memory that it was shown names the login."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contramem.traces.trajectory import Tool
from contramem_lab.target import ChatMessage, Move, ScriptedTarget

LOGIN = (
    'password = apis.supervisor.show_account_passwords()[0]["password"]\n'
    'access_token = apis.notes.login(password=password)["access_token"]'
)
ADD = 'print(apis.notes.add_item(item="{item}", access_token={token}))'
DONE = "apis.supervisor.complete_task()"


def cell(code: str) -> str:
    return f"I go on.\n```python\n{code}\n```"


def policy(name: str) -> ScriptedTarget:
    def move(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> Move:
        start = messages[0].text
        item = re.search(r"Task: Add (\w+) to", start)
        assert item is not None
        knows = name == "careful" or (name == "follower" and "notes.login" in start.partition("Task:")[0])
        add = ADD.format(item=item[1], token="access_token" if knows else '""')
        plan = [*([LOGIN] if knows else []), add, DONE]
        return cell(plan[min(sum(message.role == "assistant" for message in messages), len(plan) - 1)])

    return ScriptedTarget(move, name)


def careful() -> ScriptedTarget:
    return policy("careful")


def hasty() -> ScriptedTarget:
    return policy("hasty")


def follower() -> ScriptedTarget:
    return policy("follower")
