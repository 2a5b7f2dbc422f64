"""Tickets that the user names loosely: sign in, list the user's own open ones, and only then act on the right id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, Plan, calls


def ticket(number: int, title: str, by: str, status: str = "Open", priority: int = 2) -> dict[str, Any]:
    words = {"id": number, "title": title, "description": "", "status": status, "priority": priority}
    return words | {"created_by": by}


def queue(*tickets: dict[str, Any], user: str | None = None) -> dict[str, Any]:
    counter = max(ticket["id"] for ticket in tickets) + 1
    return {"TicketAPI": {"ticket_queue": list(tickets), "ticket_counter": counter, "current_user": user}}


def example(
    name: str,
    turns: tuple[str, ...],
    world: dict[str, Any],
    truth: tuple[tuple[EnvironmentCall, ...], ...],
    *plans: Plan,
    ability: str = "ambiguity",
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"desk_{name}", turns, ("TicketAPI",), ability, "desk", world, truth)
    return Example(task, plans, held_out)


def sign_in(user: str, password: str) -> Callable[[Careful], bool]:
    def step(agent: Careful) -> bool:
        return agent.act(
            "ticket_login", username=user, password=password, why="Tickets belong to a user, so I sign in first."
        )

    return step


def open_tickets(agent: Careful, word: str, guess: list[int]) -> list[int]:
    """Ids of the user's open tickets whose title has `word`, most urgent first."""

    def matching(seen: Any) -> list[int]:
        found = [t for t in seen if word in t["title"].lower()]
        return [t["id"] for t in sorted(found, key=lambda t: -t["priority"])]

    numbers: list[int] = agent.look(
        "get_user_tickets",
        status="Open",
        pick=matching,
        guess=guess,
        why="Several tickets could be meant; I list the open ones.",
    )
    return numbers


def close_printer(agent: Careful) -> str:
    agent.need(sign_in("tomas", "blue-kettle"), cure="log in")
    for number in open_tickets(agent, "printer", guess=[301]):
        agent.act("close_ticket", ticket_id=number)
    return "Your printer ticket is closed."


def raise_vpn(agent: Careful) -> str:
    agent.need(sign_in("yara", "stone-bridge"), cure="log in")
    for number in agent.each(open_tickets(agent, "vpn", guess=[41])):
        agent.act("edit_ticket", ticket_id=number, updates={"priority": 4})
    agent.check("get_user_tickets", status="Open")
    return "Your open VPN tickets have priority 4 now."


def report_heating(agent: Careful) -> str:
    agent.need(sign_in("ilse", "green-lamp"), cure="log in")
    agent.act("create_ticket", title="Heating in room 4 is off", description="Cold since Monday.", priority=2)
    return "I opened a ticket about the heating in room 4."


def make_it_urgent(agent: Careful) -> str:
    numbers = open_tickets(agent, "heating", guess=[1])
    agent.act("edit_ticket", ticket_id=numbers[0] if numbers else 1, updates={"priority": 5})
    return "The heating ticket is urgent now."


def resolve_bulb(agent: Careful) -> str:
    agent.act("resolve_ticket", ticket_id=88, resolution="Bulb replaced.")
    agent.check("get_ticket", ticket_id=88)
    return "Ticket 88 is resolved."


def close_duplicates(agent: Careful) -> str:
    agent.need(sign_in("noor", "paper-moon"), cure="log in")
    for number in agent.each(open_tickets(agent, "badge", guess=[9, 10])[1:]):
        agent.act("close_ticket", ticket_id=number)
    agent.check("get_user_tickets", status="Open")
    return "Only your most urgent badge ticket is still open."


def resolve_coffee(agent: Careful) -> str:
    agent.need(sign_in("emil", "tin-whistle"), cure="log in")
    for number in open_tickets(agent, "coffee", guess=[72]):
        agent.act("resolve_ticket", ticket_id=number, resolution="Pump replaced.")
    return "The coffee machine ticket is resolved."


EXAMPLES = (
    example(
        "printer",
        ("Please close my printer ticket, it works again. I'm tomas, password blue-kettle.",),
        queue(
            ticket(301, "Printer out of toner", "tomas", "Closed"),
            ticket(305, "Printer jams on floor 2", "wanda"),
            ticket(309, "Printer offline after move", "tomas"),
            ticket(310, "Chair is broken", "tomas"),
        ),
        (
            calls(
                ("ticket_login", {"username": "tomas", "password": "blue-kettle"}), ("close_ticket", {"ticket_id": 309})
            ),
        ),
        close_printer,
    ),
    example(
        "vpn",
        ("Set the priority of my open VPN tickets to 4. User yara, password stone-bridge.",),
        queue(
            ticket(41, "VPN drops at noon", "pavel"),
            ticket(44, "VPN slow from home", "yara"),
            ticket(47, "VPN token expired", "yara", "Resolved"),
            ticket(52, "VPN refuses my phone", "yara", priority=1),
        ),
        (
            calls(
                ("ticket_login", {"username": "yara", "password": "stone-bridge"}),
                ("edit_ticket", {"ticket_id": 44, "updates": {"priority": 4}}),
                ("edit_ticket", {"ticket_id": 52, "updates": {"priority": 4}}),
            ),
        ),
        raise_vpn,
    ),
    example(
        "heating",
        (
            "Report that the heating in room 4 is off: title 'Heating in room 4 is off', description "
            "'Cold since Monday.', priority 2. I'm ilse, password green-lamp.",
            "It's freezing. Make that ticket urgent, priority 5.",
        ),
        queue(ticket(118, "Heating too loud", "greta"), ticket(120, "Window stuck", "ilse")),
        (
            calls(
                ("ticket_login", {"username": "ilse", "password": "green-lamp"}),
                (
                    "create_ticket",
                    {"title": "Heating in room 4 is off", "description": "Cold since Monday.", "priority": 2},
                ),
            ),
            calls(("edit_ticket", {"ticket_id": 121, "updates": {"priority": 5}})),
        ),
        report_heating,
        make_it_urgent,
    ),
    example(
        "bulb",
        ("I'm signed in. Resolve ticket 88 with 'Bulb replaced.', please.",),
        queue(ticket(86, "Stairs too dark", "jonas"), ticket(88, "Bulb in hall B", "jonas"), user="jonas"),
        (calls(("resolve_ticket", {"ticket_id": 88, "resolution": "Bulb replaced."})),),
        resolve_bulb,
        ability="execution",
    ),
    example(
        "badge",
        ("I filed the door badge problem more than once. Keep the most urgent, close my others. noor / paper-moon.",),
        queue(
            ticket(9, "Badge does not open gate", "noor", priority=4),
            ticket(12, "Badge broken", "noor", priority=2),
            ticket(13, "Badge lost", "said", priority=1),
            ticket(15, "Gate badge again", "noor", priority=1),
        ),
        (
            calls(
                ("ticket_login", {"username": "noor", "password": "paper-moon"}),
                ("close_ticket", {"ticket_id": 12}),
                ("close_ticket", {"ticket_id": 15}),
            ),
        ),
        close_duplicates,
        held_out=True,
    ),
    example(
        "coffee",
        ("The coffee machine is fixed: resolve my ticket with 'Pump replaced.' I'm emil, password tin-whistle.",),
        queue(
            ticket(70, "Coffee machine leaks", "emil", "Closed"),
            ticket(72, "Coffee beans missing", "rosa"),
            ticket(75, "No coffee since Friday", "emil", priority=3),
        ),
        (
            calls(
                ("ticket_login", {"username": "emil", "password": "tin-whistle"}),
                ("resolve_ticket", {"ticket_id": 75, "resolution": "Pump replaced."}),
            ),
        ),
        resolve_coffee,
        held_out=True,
    ),
)
