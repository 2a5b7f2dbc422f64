"""Messages to people whose ids must be looked up, from a user who must be signed in, to all of them and once each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, Plan, calls

PEOPLE = {"Odile": "USR001", "Bram": "USR002", "Ines": "USR003", "Kofi": "USR004", "Tuuli": "USR005"}


def workspace(*sent: tuple[str, str]) -> dict[str, Any]:
    world = {
        "user_count": len(PEOPLE),
        "user_map": PEOPLE,
        "inbox": [{PEOPLE[name]: text} for name, text in sent],
        "message_count": len(sent),
        "current_user": None,
        "random_seed": 11,
    }
    return {"MessageAPI": world}


def example(
    name: str,
    text: str,
    world: dict[str, Any],
    truth: tuple[EnvironmentCall, ...],
    plan: Plan,
    *,
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"messages_{name}", (text,), ("MessageAPI",), "execution", "messages", world, (truth,))
    return Example(task, (plan,), held_out)


def person(agent: Careful, name: str, guess: str) -> str:
    number: str = agent.look(
        "get_user_id", user=name, pick=lambda seen: seen["user_id"], guess=guess, why=f"I look up {name}'s id."
    )
    return number


def sign_in(name: str, guess: str) -> Callable[[Careful], bool]:
    def step(agent: Careful) -> bool:
        return agent.act("message_login", user_id=person(agent, name, guess), why="Sending needs a signed-in user.")

    return step


def tell(me: str, names: tuple[str, ...], text: str, guess: str = "USR010") -> Plan:
    def plan(agent: Careful) -> str:
        agent.need(sign_in(me, "USR001"), cure="logged in")
        for name in agent.each(names):
            agent.act("send_message", receiver_id=person(agent, name, guess), message=text)
        agent.check("view_messages_sent")
        return f"Told {', '.join(names)}."

    return plan


def correct_bram(agent: Careful) -> str:
    agent.need(sign_in("Ines", "USR001"), cure="logged in")
    bram = person(agent, "Bram", "USR001")
    agent.act("delete_message", receiver_id=bram, why="The wrong one goes first, then the right one.")
    agent.act("send_message", receiver_id=bram, message="We meet at four, not three.")
    return "Bram has the corrected time."


def greet_newcomer(me: str, name: str, text: str) -> Plan:
    """The newcomer is in nobody's list yet."""

    def plan(agent: Careful) -> str:
        agent.need(sign_in(me, "USR001"), cure="logged in")
        if not agent.act("get_user_id", user=name):
            agent.act("add_contact", user_name=name, why=f"{name} is not in the workspace yet, so I add them.")
        receiver = person(agent, name, "USR010")
        agent.act("send_message", receiver_id=receiver, message=text)
        return f"{name} has your message."

    return plan


def login(number: str) -> tuple[str, dict[str, Any]]:
    return "message_login", {"user_id": number}


def send(number: str, text: str) -> tuple[str, dict[str, Any]]:
    return "send_message", {"receiver_id": number, "message": text}


EXAMPLES = (
    example(
        "boat_check",
        "I'm Odile. Tell Bram, Ines and Kofi: 'Boat check at noon.'",
        workspace(("Bram", "Did you find the rope?")),
        calls(
            login("USR001"),
            send("USR002", "Boat check at noon."),
            send("USR003", "Boat check at noon."),
            send("USR004", "Boat check at noon."),
        ),
        tell("Odile", ("Bram", "Ines", "Kofi"), "Boat check at noon."),
    ),
    example(
        "wrong_time",
        "Ines here. My last message to Bram has the wrong time: delete it and send 'We meet at four, not three.'",
        workspace(("Bram", "Good morning!"), ("Kofi", "See you."), ("Bram", "We meet at three.")),
        calls(
            login("USR003"),
            ("delete_message", {"receiver_id": "USR002"}),
            send("USR002", "We meet at four, not three."),
        ),
        correct_bram,
    ),
    example(
        "newcomer",
        "I'm Kofi. Send 'Welcome aboard!' to Renske. She may not be in the workspace yet; add her if so.",
        workspace(("Odile", "Renske starts today.")),
        calls(login("USR004"), ("add_contact", {"user_name": "Renske"}), send("USR006", "Welcome aboard!")),
        greet_newcomer("Kofi", "Renske", "Welcome aboard!"),
    ),
    example(
        "keys",
        "This is Tuuli. Let Odile and Kofi know: 'The keys are under the red pot.'",
        workspace(("Ines", "On my way.")),
        calls(
            login("USR005"),
            send("USR001", "The keys are under the red pot."),
            send("USR004", "The keys are under the red pot."),
        ),
        tell("Tuuli", ("Odile", "Kofi"), "The keys are under the red pot."),
        held_out=True,
    ),
    example(
        "new_cook",
        "Bram speaking. Please write 'Soup at seven.' to Anneli, our new cook; add her to the workspace if needed.",
        workspace(("Tuuli", "We need onions.")),
        calls(login("USR002"), ("add_contact", {"user_name": "Anneli"}), send("USR006", "Soup at seven.")),
        greet_newcomer("Bram", "Anneli", "Soup at seven."),
        held_out=True,
    ),
)
