"""What may stand on a card although runs contain it, and which words may not."""

from __future__ import annotations

from tests.made_runs import call, packet, run
from tests.validate.validate_examples import delta

from contramem.contrast.packet import Packet
from contramem.privacy.public import Public, public_of
from contramem.validate.case import Case
from contramem.validate.privacy import Privacy

PHRASE = "you lie alongside at own risk"


def letters(text: str) -> Packet:
    sent = call("Mail.send_letter", {"text": f"Dear guest. {text} Kind regards."})
    return packet(run("a", True, sent, "Done."), run("b", False, "Done."))


def complaints(story: Packet, public: Public | None = None, **changes: object) -> list[str]:
    return [*Privacy(public)(Case(delta(**changes), packets=(story,)))]


def test_a_sentence_that_passing_runs_of_several_tasks_and_sources_wrote_may_stand() -> None:
    story = letters(f"{PHRASE.capitalize()}.")
    runs = [[run(source, True, f"{PHRASE}.", task_id=task) for source in "ab"] for task in ("t1", "t2")]
    rule = f"Call `send_letter` with a text that contains “{PHRASE}”."
    assert not complaints(story, public_of(runs), core_rule=rule)
    assert complaints(story, public_of(runs[:1]), core_rule=rule)


def test_a_word_that_is_neither_ordinary_nor_public_is_refused_where_the_runs_are_known() -> None:
    story = letters("Pay in cash.")
    assert not complaints(story, None, core_rule="Hand it to Zanmel.")
    assert (
        "says 'Zanmel'" in complaints(story, Public(names=frozenset({"Mail.send"})), core_rule="Hand it to Zanmel.")[0]
    )
    assert not complaints(
        story,
        Public(names=frozenset({"Mail.send"}), met=frozenset({"zanmel"})),
        core_rule="Hand it to Zanmel, as YYYY-MM-DD.",
    )
