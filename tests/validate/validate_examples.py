"""One packet, a lesson that it teaches, and a card about one of its functions. All of them pass every check."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.bank.card import Argument, Evidence, FunctionCard, Skill, SkillCard, SkillDelta
from contramem.build.author import Candidate
from contramem.contrast.observation import by_function
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite

SEARCH = call("Mail.search_emails", {"query": "Quarterly Report"}, [{"id": "m-471188", "sender": "ada@example.org"}])
DELETE = call("Mail.delete_email", {"email_id": "m-471188", "folder": "INBOX"})
GUESS = call("Mail.delete_email", {"email_id": "m-1"}, "Email not found.", "ValueError: Email m-1 not found.")
SAFE = call("Mail.count_emails", {}, "3")


def example_packet() -> Packet:
    """Ada's report is to be deleted. Two runs search for it first; the third makes an id up."""
    task = "Delete the Quarterly Report that Ada Byron sent from ada@example.org."
    return packet(
        run("gpt-4o-mini", True, SEARCH, DELETE, "Deleted.", task=task),
        run("gpt-4o", True, SAFE, SEARCH, DELETE, "Done.", task=task),
        run(
            "careful",
            False,
            GUESS,
            "I could not.",
            task=task,
            feedback="The judge found the mailbox unchanged at the end.",
        ),
    )


def failed_packet() -> Packet:
    """Nobody found the report."""
    return packet(run("a", False, SEARCH, "No."), run("b", False, GUESS, "I could not."))


def delta(**changes: object) -> SkillDelta:
    """Look the id up first. `changes` go to the field of that name, wherever it is."""
    skill = Skill(
        core_rule="Look the id up with `search_emails` and see it work before `delete_email`.",
        completion=("`search_emails` has answered before `delete_email` is called.",),
        success_failure_contrast="2 of 2 passing runs call `search_emails`; 0 of 1 failing runs do.",
    )
    skill = skill.model_copy(update={k: v for k, v in changes.items() if k in Skill.model_fields})
    evidence = Evidence(good_example="search_emails(query=<NAME_1>) → delete_email(email_id=<ID_1>)")
    evidence = evidence.model_copy(update={k: v for k, v in changes.items() if k in Evidence.model_fields})
    lesson = SkillDelta(
        title="Search before you delete",
        applies_when="An email has to be deleted and its id is not known.",
        solves="Made-up ids.",
        tags=("delete", "search"),
        skill=skill,
        evidence=evidence,
        functions_used=("Mail.search_emails", "Mail.delete_email"),
        guards=("precedence(Mail.search_emails, Mail.delete_email)",),
    )
    return lesson.model_copy(update={k: v for k, v in changes.items() if k in SkillDelta.model_fields})


CITES = (Cite("A", 1), Cite("A", 2), Cite("C", 1))


def candidate(cites: tuple[Cite, ...] = CITES, **changes: object) -> Candidate:
    return Candidate(delta(**changes), cites)


def skill_card(**changes: object) -> SkillCard:
    return SkillCard.of(delta(**changes), "skill::0123", "email")


def function_card(**changes: object) -> FunctionCard:
    card = FunctionCard(
        card_id="function::Mail.delete_email",
        tool="Mail.delete_email",
        app="Mail",
        function="delete_email",
        what_it_does="Observed to delete one email.",
        arguments=(Argument(name="email_id", meaning="id from a result of `search_emails`", form="text"),),
        returns="Text.",
        common_mistakes=('"Email <ID> not found." in 1 of 3 calls.',),
    )
    return card.model_copy(update=changes)


def observations(of: Packet) -> list:
    return by_function([of])["Mail.delete_email"]
