"""Scripted models for the made-up scenarios. They know a good plan and a hasty one for every scenario; none of them
looks anything up that is not in the prompt. What they show is that the parts work, not what a memory is worth.

`careful` follows the good plan, `hasty` the hasty one. `early` follows the good one but reports as soon as a wait ends.
`follower` follows the hasty one unless a memory that it was shown names the function that the hasty plan leaves out.
`idle` never acts. `absent` waits as it should and then reports, unless a memory that came after a wait names the call
that is left. `drifter` knows no moment: it waits as long as it can, and does what is owed when it is told so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from contramem_lab.are import Message

SEARCH, LIST, ASK = "Contacts__search_contacts", "Emails__list_emails", "AgentUserInterface__send_message_to_user"
SEND, WAIT = "Emails__send_email", "SystemApp__wait_for_notification"
Action = tuple[str, dict[str, Any]]

ADDRESSES = {
    "Ann Lee": "ann.lee@mailbox.example", "Bob Stone": "rstone@firm.example", "Cleo Marsh": "cm77@post.example",
    "Sam Hill": "sam.hill@firm.example", "Kim Wood": "kim.wood@firm.example", "Lou Reed": "lou.reed@firm.example",
    "Sam": "sam.ford@mailbox.example", "Kim": "kim.dale@post.example", "Lou": "lou.park@post.example",
}  # fmt: skip
SENDERS = {"roof": "Cleo Marsh", "invoice": "Bob Stone", "concert": "Ann Lee"}
RIGHT = {"Sam": "Sam Hill", "Kim": "Kim Wood", "Lou": "Lou Reed"}
OTHER_DAY = {"Monday": "Tuesday", "Thursday": "Friday", "Sunday": "Saturday"}
_CLOCK = re.compile(r"@ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\]")


def mail(person: str, subject: str, text: str) -> Action:
    guess = f"{person.lower().replace(' ', '.')}@mail.example"
    return SEND, {"recipients": [ADDRESSES.get(person, guess)], "subject": subject, "content": text}


def say(text: str) -> Action:
    return ASK, {"content": text}


def plans(task: str) -> tuple[str, list[Action], list[Action]]:
    """The function that the hasty plan leaves out, the good plan, and the hasty one."""
    if match := re.search(r"Email ([A-Z]\w+ [A-Z]\w+) with the subject '(.+?)' and the text '(.+?)'", task):
        person, subject, text = match.groups()
        good = [(SEARCH, {"query": person}), mail(person, subject, text), say("It is sent.")]
        return "search_contacts", good, [mail(f"{person} ", subject, text), say("It is sent.")]
    if match := re.search(r"about the (\w+)\. Email whoever it was '(.+?)'", task):
        topic, text = match.groups()
        good = [(LIST, {"folder_name": "INBOX"}), mail(SENDERS[topic], "Answer", text), say("Done.")]
        return "list_emails", good, [mail(topic, "Answer", text), say("Done.")]
    if match := re.search(r"Email (\w+) '(.+?)', subject 'Note'", task):
        name, text = match.groups()
        question = [(SEARCH, {"query": name}), say(f"Which {name} do you mean?")]
        good = [*question, mail(RIGHT[name], "Note", text), say("Sent.")]
        return "search_contacts", good, [mail(name, "Note", text), say("Sent.")]
    if match := re.search(r"Email (\w+ \w+) 'Meet on (\w+)\?'", task):
        person, day = match.groups()
        first = [mail(person, "Meeting", f"Meet on {day}?"), say("Sent.")]
        other = OTHER_DAY[day]
        rest = [
            (LIST, {"folder_name": "INBOX"}),
            mail(person, "Meeting", f"{other} is fine."),
            say(f"Confirmed {other}."),
        ]
        return "list_emails", first + rest, [*first, say("Nothing else.")]
    match = re.search(r"Email (\w+ \w+) 'Are you coming\?'", task)
    assert match is not None, f"nobody wrote a plan for {task!r}"
    person = match[1]
    first_mail, reminder = mail(person, "Visit", "Are you coming?"), mail(person, "Reminder", "Are you coming?")
    wait: Action = (WAIT, {"timeout": 180 if "3 minutes" in task else 90 if "90 seconds" in task else 600})
    return "wait_for_notification", [first_mail, wait, reminder, say("Reminded.")], [first_mail, reminder, say("Done.")]


class ScriptedEngine:
    """Plays a plan from what the prompt shows of the run so far. Holds no state, so runs may share it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, messages: Sequence[Message]) -> str:
        if self.name == "idle":
            return "Thought: I think about it."
        task = next(text["content"] for text in messages if text["content"].startswith("[TASK]"))
        missing, good, hasty = plans(task)
        memory = "".join(text["content"] for text in messages if text["content"].startswith("[MEMORY]"))
        if self.name in HABITS:
            return written(*HABITS[self.name](good, messages))
        plan = good if self.name == "careful" or (self.name == "follower" and missing in memory) else hasty
        return written(*next_action(plan, messages))


def next_action(plan: list[Action], messages: Sequence[Message]) -> Action:
    """The first action that was not made yet. A held call is made again, a wait that was cut short is gone on with."""
    done, began, again = 0, None, None
    for said, seen in zip(messages, [*messages[1:], None], strict=True):
        if said["role"] != "assistant" or done >= len(plan):
            continue
        response = seen["content"] if seen else ""
        if "held" in response.lower():
            continue
        again = None
        if WAIT in said["content"]:
            began = began or clock_before(messages, said)
            if (left := wait_left(plan[done][1]["timeout"], began, response)) > 1:
                again = (WAIT, {"timeout": plan[done][1]["timeout"] if plan[done][1]["timeout"] == 600 else left})
                continue
        done += 1
    return again or plan[min(done, len(plan) - 1)]


def early_action(plan: list[Action], messages: Sequence[Message]) -> Action:
    """Reports after its first wait, whatever the clock says. When that is held, it goes on by the plan."""
    waited = any(WAIT in text["content"] for text in messages if text["role"] == "assistant")
    held = any("was held" in text["content"] for text in messages)
    if waited and not held:
        return say("Reminded.")
    made = [text for text in messages if not (text["role"] == "assistant" and ASK in text["content"])]
    return next_action(plan, made)


def absent_action(plan: list[Action], messages: Sequence[Message]) -> Action:
    """Forgets the second mail, unless it was reminded after a wait began."""
    waits = [at for at, text in enumerate(messages) if text["role"] == "assistant" and WAIT in text["content"]]
    later = [text["content"] for text in messages[waits[0] :]] if waits else []
    reminded = any(text.startswith("[MEMORY]") and "send_email" in text for text in later)
    return next_action(plan if reminded else [plan[0], plan[1], plan[3]], messages)


def drifter_action(plan: list[Action], messages: Sequence[Message]) -> Action:
    """What is owed without a deadline it does at once, what has one when less than two ticks are left."""
    made = [text["content"] for text in messages if text["role"] == "assistant"]
    if not made:
        return plan[0]
    if "Reminder" in "".join(made):
        return plan[3]
    if WAIT not in made[-1]:
        return WAIT, {"timeout": 600}
    last = max(at for at, text in enumerate(messages) if text["role"] == "assistant")
    told = "".join(text["content"] for text in messages[last:] if text["content"].startswith("[MEMORY]"))
    due = re.search(r"UTC, in (\d+) seconds", told)
    left = int(due[1]) if due else 0
    return plan[2] if left <= 5 else (WAIT, {"timeout": left if left < 120 else 600})


HABITS = {"early": early_action, "absent": absent_action, "drifter": drifter_action}


def clock_before(messages: Sequence[Message], until: Message) -> float | None:
    """The simulated time that was last shown before a message. None: no clock is shown."""
    shown = [match[1] for text in messages[: list(messages).index(until)] if (match := _CLOCK.search(text["content"]))]
    return seconds(shown[-1]) if shown else None


def wait_left(asked: int, began: float | None, response: str) -> int:
    """Seconds of a wait that was cut short. Whoever waits for the end of a session of 7 minutes waits 405 of them."""
    match = _CLOCK.search(response)
    if match is None or began is None:
        return 0
    return round(min(asked, 405) - (seconds(match[1]) - began))


def seconds(text: str) -> float:
    return datetime.strptime(f"{text} +0000", "%Y-%m-%d %H:%M:%S %z").timestamp()


def written(tool: str, arguments: dict[str, Any]) -> str:
    return "Thought: next.\nAction:\n" + json.dumps({"action": tool, "action_input": arguments}) + "<end_action>"


def careful() -> ScriptedEngine:
    return ScriptedEngine("careful")


def hasty() -> ScriptedEngine:
    return ScriptedEngine("hasty")


def follower() -> ScriptedEngine:
    return ScriptedEngine("follower")


def drifter() -> ScriptedEngine:
    return ScriptedEngine("drifter")


def idle() -> ScriptedEngine:
    return ScriptedEngine("idle")


class _SayDone:
    name = "done"

    def complete(self, messages: Sequence[Message]) -> str:
        return written(*say("Done."))


SAY_DONE = _SayDone()
