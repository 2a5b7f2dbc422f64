"""What an agent was told before a task reaches its packet, as far as it can decide, with values masked."""

from __future__ import annotations

import msgspec
from tests.made_runs import call, packet, run

from contramem.build.model.packet_text import packet_text
from contramem.contrast.system_facts import MAX_FACTS, find_system_facts
from contramem.traces.trajectory import Trajectory

SYSTEM = """You are a helpful desk agent. Always answer politely and at length.
Today is Thursday, 2023-11-30. The user's name is Berta Quast, of the company Blue Finch.
# Policies
- A refund above the limit has to be approved before you refund an order.
- Greet everybody warmly whenever you can do so.
"""


def told(made: Trajectory, system: str = SYSTEM) -> Trajectory:
    return msgspec.structs.replace(made, system=system)


def refund() -> Trajectory:
    return told(run("a", True, call("Desk.refund_order", {"order": "SO-4711"}, "ok"), "Done."))


def test_the_day_the_user_and_policies_about_the_calls_are_facts() -> None:
    assert find_system_facts([refund()]) == [
        "Today is Thursday, 2023-11-30.",
        "The user's name is Berta Quast, of the company Blue Finch.",
        "A refund above the limit has to be approved before you refund an order.",
    ]


def test_a_sentence_about_some_date_is_not_the_day() -> None:
    system = "The line's contract end date is in the past. Do it now and be kind. The current time is 12:08."
    assert find_system_facts([told(refund(), system)]) == ["The current time is 12:08."]


def test_policies_about_other_calls_and_long_prompts_are_left_out() -> None:
    other = told(run("a", True, call("Desk.get_order", {"order": "SO-4711"}, "ok"), "Done."))
    assert "A refund" not in " ".join(find_system_facts([other]))
    many = "\n".join(f"You may refund an order of kind {number} again." for number in range(50))
    assert len(find_system_facts([told(refund(), many)])) == MAX_FACTS


def test_without_a_system_prompt_there_are_no_system_facts() -> None:
    assert find_system_facts([run("a", True, "Done.")]) == []


def test_a_packet_shows_system_facts_once_between_marks_with_names_masked_and_dates_as_they_are() -> None:
    made = packet(refund(), told(run("b", False, "No.")))
    text = packet_text(made).text
    assert text.count("told beforehand: ‹") == 1
    assert "2023-11-30" in text
    assert "Berta" not in text
    assert {"Berta Quast"} <= set(made.placeholders.originals().values())


def test_system_facts_do_not_change_the_placeholders_of_values() -> None:
    def of(system: str) -> dict[str, str]:
        calls = call("Desk.refund_order", {"order": "SO-4711", "owner": "Carla Dorn"}, "ok")
        return packet(told(run("a", True, calls, "Done."), system)).placeholders.originals()

    without, with_system = of(""), of(SYSTEM)
    assert with_system.items() >= without.items()


def test_a_value_that_the_runs_contain_too_gets_the_same_placeholder() -> None:
    calls = call("Desk.refund_order", {"owner": "Berta Quast"}, "ok")
    made = packet(told(run("a", True, calls, "Done.")))
    name = next(name for name, value in made.placeholders.originals().items() if value == "Berta Quast")
    assert f"The user's name is {name}," in " ".join(made.system_facts)
