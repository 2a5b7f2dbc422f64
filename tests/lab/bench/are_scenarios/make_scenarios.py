"""Writes the scenarios of this folder, three for each GAIA2 ability, in GAIA2's layout. Run it with ARE's own Python:

    cd tests/lab/bench/are_scenarios; $(contramem lab bench are --where)/bin/python make_scenarios.py .

They were made up here; no GAIA2 data is in them. The scripted judge looks at tool counts, exact arguments, order and
time, not at free text, so each scenario turns on an argument, on a call or on a moment.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

from are.simulation.apps import AgentUserInterface, CalendarApp, ContactsApp, EmailClientV2, MessagingAppV2, SystemApp
from are.simulation.apps.contacts import Contact, Gender, Status
from are.simulation.apps.email_client import Email
from are.simulation.data_handler.exporter import JsonScenarioExporter
from are.simulation.environment import Environment, EnvironmentConfig
from are.simulation.scenarios.scenario import Scenario
from are.simulation.types import CapabilityTag, EventRegisterer, EventType

START = 1729000000.0
PEOPLE = (
    ("Ann", "Lee", "ann.lee@mailbox.example"), ("Bob", "Stone", "rstone@firm.example"),
    ("Cleo", "Marsh", "cm77@post.example"), ("Sam", "Ford", "sam.ford@mailbox.example"),
    ("Sam", "Hill", "sam.hill@firm.example"), ("Kim", "Dale", "kim.dale@post.example"),
    ("Kim", "Wood", "kim.wood@firm.example"), ("Lou", "Park", "lou.park@post.example"),
    ("Lou", "Reed", "lou.reed@firm.example"),
)  # fmt: skip
MAIL = {f"{first} {last}": address for first, last, address in PEOPLE}


class MadeUp(Scenario):
    """One scenario, from its row in the table below."""

    def __init__(self, name: str, ability: str, flow: Any, inbox: Any = ()) -> None:
        super().__init__()
        self.scenario_id, self.start_time, self._flow, self._inbox = name, START, flow, inbox
        self.duration = 420.0 if ability == "time" else 1800.0
        self.tags = (CapabilityTag[ability.capitalize()],)

    def init_and_populate_apps(self, *args: Any, **kwargs: Any) -> None:
        mail, contacts = EmailClientV2(name="Emails"), ContactsApp(name="Contacts")
        for first, last, address in (*PEOPLE, ("Me", "User", mail.user_email)):
            contacts.add_contact(
                Contact(
                    first_name=first,
                    last_name=last,
                    email=address,
                    phone="+1 555",
                    age=30,
                    gender=Gender.FEMALE,
                    status=Status.EMPLOYED,
                    is_user=first == "Me",
                )
            )
        for number, (sender, subject, content) in enumerate(self._inbox):
            mail.add_email(
                Email(
                    sender=sender,
                    recipients=[mail.user_email],
                    subject=subject,
                    content=content,
                    email_id=f"mail_{number}",
                    timestamp=START - 3600 + number,
                )
            )
        apps = [AgentUserInterface(), mail, MessagingAppV2(name="Chats"), CalendarApp(name="Calendar"), contacts]
        self.apps = [*apps, SystemApp()]

    def build_events_flow(self) -> None:
        user, mail = self.get_typed_app(AgentUserInterface), self.get_typed_app(EmailClientV2, "Emails")
        with EventRegisterer.capture_mode():
            self.events = self._flow(user, mail)


def ask(user: Any, text: str, after: Any = None, delay: float = 2) -> Any:
    return user.send_message_to_agent(content=text).with_type(EventType.USER).depends_on(after, delay_seconds=delay)


def send(mail: Any, to: str, subject: str, text: str, after: Any, delay: float = 1) -> Any:
    event = mail.send_email(recipients=[MAIL[to]], subject=subject, content=text)
    return event.oracle().depends_on(after, delay_seconds=delay)


def say(user: Any, text: str, after: Any) -> Any:
    return user.send_message_to_user(content=text).oracle().depends_on(after, delay_seconds=1)


def write_to(person: str, subject: str, text: str) -> Any:
    """Execution: the address stands in the contacts and nowhere else."""

    def flow(user: Any, mail: Any) -> list[Any]:
        asked = ask(
            user, f"Email {person} with the subject '{subject}' and the text '{text}'. Tell me when it is sent."
        )
        sent = send(mail, person, subject, text, asked)
        return [asked, sent, say(user, "It is sent.", sent)]

    return flow


def answer_sender(topic: str, person: str, text: str) -> Any:
    """Search: who wrote about it stands in the inbox."""

    def flow(user: Any, mail: Any) -> list[Any]:
        asked = ask(user, f"Somebody wrote to me about the {topic}. Email whoever it was '{text}', subject 'Answer'.")
        sent = send(mail, person, "Answer", text, asked)
        return [asked, sent, say(user, "Done.", sent)]

    return flow


def which_one(first: str, right: str, text: str) -> Any:
    """Ambiguity: two people have the name, so the agent has to ask."""

    def flow(user: Any, mail: Any) -> list[Any]:
        asked = ask(user, f"Email {first} '{text}', subject 'Note'.")
        question = say(user, f"Which {first} do you mean?", asked)
        reply = ask(user, f"{right}.", question, delay=10)
        sent = send(mail, right, "Note", text, reply)
        return [asked, question, reply, sent, say(user, "Sent.", sent)]

    return flow


def other_day(person: str, day: str, other: str) -> Any:
    """Adaptability: the answer changes the plan after the agent has reported."""

    def flow(user: Any, mail: Any) -> list[Any]:
        text = (
            f"Email {person} 'Meet on {day}?', subject 'Meeting', and tell me. If another day is answered, confirm it."
        )
        asked = ask(user, text)
        sent = send(mail, person, "Meeting", f"Meet on {day}?", asked)
        told = say(user, "Sent.", sent)
        answer = mail.send_email_to_user_only(sender=MAIL[person], subject="Re: Meeting", content=f"{other} instead?")
        answer = answer.depends_on(told, delay_seconds=20)
        confirmed = send(mail, person, "Meeting", f"{other} is fine.", answer)
        return [asked, sent, told, answer, confirmed, say(user, f"Confirmed {other}.", confirmed)]

    return flow


def remind_after(person: str, seconds: int, words: str) -> Any:
    """Time: the second mail has to leave in its moment, 10 seconds early to 25 late."""

    def flow(user: Any, mail: Any) -> list[Any]:
        text = (
            f"Email {person} 'Are you coming?', subject 'Visit', now. {words} email again, subject 'Reminder'. Tell me."
        )
        asked = ask(user, text)
        sent = send(mail, person, "Visit", "Are you coming?", asked)
        again = send(mail, person, "Reminder", "Are you coming?", sent, delay=seconds)
        return [asked, sent, again, say(user, "Reminded.", again)]

    return flow


INBOX = (
    (MAIL["Cleo Marsh"], "Roof", "The roof leaks again."), (MAIL["Bob Stone"], "Invoice", "The invoice is wrong."),
    (MAIL["Ann Lee"], "Concert", "Two tickets for the concert are left."),
)  # fmt: skip
SCENARIOS: tuple[tuple[str, Any, Any], ...] = (
    ("execution", write_to("Ann Lee", "Lunch", "Lunch on Monday at noon."), ()),
    ("execution", write_to("Bob Stone", "Contract", "The contract is signed."), ()),
    ("execution", write_to("Cleo Marsh", "Keys", "The keys are at the desk."), ()),
    ("search", answer_sender("roof", "Cleo Marsh", "I will send a roofer."), INBOX),
    ("search", answer_sender("invoice", "Bob Stone", "A new invoice follows."), INBOX),
    ("search", answer_sender("concert", "Ann Lee", "I take both."), INBOX),
    ("ambiguity", which_one("Sam", "Sam Hill", "The parcel is here."), ()),
    ("ambiguity", which_one("Kim", "Kim Wood", "The room is booked."), ()),
    ("ambiguity", which_one("Lou", "Lou Reed", "The band starts at nine."), ()),
    ("adaptability", other_day("Ann Lee", "Monday", "Tuesday"), ()),
    ("adaptability", other_day("Bob Stone", "Thursday", "Friday"), ()),
    ("adaptability", other_day("Cleo Marsh", "Sunday", "Saturday"), ()),
    ("time", remind_after("Ann Lee", 180, "If nobody answers within 3 minutes,"), ()),
    ("time", remind_after("Bob Stone", 90, "If nobody answers within 90 seconds,"), ()),
    ("time", remind_after("Cleo Marsh", 408, "Seconds before my session ends, 7 minutes after its start,"), ()),
)


def export(scenario: MadeUp, path: Path) -> None:
    """ARE's exporter writes arguments of oracle events as Python, its importer wants JSON."""
    env = Environment(EnvironmentConfig(oracle_mode=True, queue_based_loop=True, start_time=START))
    text = JsonScenarioExporter().export_to_json(env, scenario, scenario.scenario_id, runner_config=None)
    document = json.loads(text)
    document["metadata"]["annotation"]["date"] = START
    for event in document["events"]:
        arguments = [arg for arg in event["action"]["args"] if arg["value_type"] not in (None, "NoneType")]
        for argument in arguments:
            if argument["value_type"] in ("list", "dict") and argument["value"]:
                argument["value"] = json.dumps(ast.literal_eval(argument["value"]))
        event["action"]["args"] = arguments
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main(folder: Path) -> None:
    for number, (ability, flow, inbox) in enumerate(SCENARIOS):
        name = f"made_up_{ability}_{number % 3 + 1}"
        scenario = MadeUp(name, ability, flow, inbox)
        scenario.initialize()
        export(scenario, folder / ability / "validation" / f"{name}.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
