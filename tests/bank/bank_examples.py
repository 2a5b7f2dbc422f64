"""The cards of the paper's appendix B.2, and the decisions that a build would record for them."""

from __future__ import annotations

from contramem.bank.bank import Add, Amend, Bank, CardSupport, GuardSupport, Patch
from contramem.bank.card import Argument, Evidence, FunctionCard, Skill, SkillDelta
from contramem.bank.ledger import Attribution, Decision, RunRef

RULES = Attribution(kind="rules", name="rules", version="1")

DELETE_EMAIL = FunctionCard(
    card_id="function::EmailClientV2.delete_email",
    tool="EmailClientV2.delete_email",
    app="EmailClientV2",
    function="delete_email",
    what_it_does="Deletes one specified email from one specified folder; observed successful use removes emails from "
    "INBOX by exact email_id.",
    arguments=(
        Argument(name="email_id", meaning="exact identifier from a prior listing or search result", form="text"),
        Argument(
            name="folder_name",
            meaning="folder containing the target email",
            form="one of INBOX",
            required=False,
        ),
    ),
    returns="A confirmation with the id of the deleted email.",
    usage_rules=(
        "Use exact email_id values from observations.",
        "Call once per email_id for multi-delete tasks.",
        "Pass the folder where the email was found.",
    ),
    common_mistakes=(
        "Do not call delete_email when the intended action is moving, keeping, or only clarifying about an email.",
    ),
    side_effects="Removes the targeted email. Because this is a destructive write, filtering and selection must be "
    "verified before the call.",
)

KEEP_EXCEPTION = SkillDelta(
    title="Delete clear emails despite an ambiguous keep exception",
    applies_when="A destructive email task has fully specified base search criteria, but a keep/exception clause "
    "matches multiple possible records.",
    solves="Partial completion under ambiguity.",
    tags=("delete", "exception"),
    skill=Skill(
        core_rule="Partition before writing: delete clear non-exceptions, preserve every possible exception candidate, "
        "and ask only for the unresolved exception decision.",
        completion=(
            "Base matches are split into clear-delete and ambiguous-exception records.",
            "Each clear-delete record is deleted exactly once.",
            "No ambiguous exception candidate is deleted.",
        ),
    ),
    evidence=Evidence(
        good_example="Passing trajectories delete safe non-exception candidates, then ask <PERSON_1> which exception "
        "was intended.",
        bad_example="Failing trajectories detect ambiguity, ask immediately, and omit all safe delete writes.",
    ),
    functions_used=("EmailClientV2.search_emails", "EmailClientV2.delete_email", "AgentUserInterface.send_message"),
    guards=("precedence(EmailClientV2.search_emails, EmailClientV2.delete_email)",),
)

SUPPORT = CardSupport(
    tasks=("email/7", "email/9"),
    sources=("model-a", "model-b"),
    taught_by=("1f0c", "77ab"),
    guard_counts={KEEP_EXCEPTION.guards[0]: GuardSupport(held=3, broken=2)},
)

RUNS = (
    RunRef(task="email/7", source="model-a", passed=True, origin="runs/a.jsonl:7", events=(3, 4)),
    RunRef(task="email/7", source="model-b", passed=False, origin="runs/b.jsonl:7", events=(3,)),
)


def delta(title: str = "Log in again", rule: str = "Log in again before retrying.") -> SkillDelta:
    return SkillDelta(
        title=title,
        applies_when=f"A call fails ({title}).",
        solves="Repeated failure.",
        skill=Skill(core_rule=rule, completion=("The call succeeded.",)),
    )


def add(text: SkillDelta = KEEP_EXCEPTION) -> Add:
    return Add(delta_index=0, reason="new", new_or_updated_card=text)


def amend(card_id: str, text: SkillDelta) -> Amend:
    return Amend(
        delta_index=0, reason="more", target_card_ids=(card_id,), retained_card_id=card_id, new_or_updated_card=text
    )


def decide(bank: Bank, patch: Patch, ability: str = "email", support: CardSupport | None = None) -> Decision:
    """What a build records for `patch`."""
    return Decision(
        operation=patch.operation,
        reason=patch.reason,
        by=RULES,
        ability=ability,
        candidate=patch.new_or_updated_card,
        patch=patch,
        changes=bank.plan(patch, ability, support),
        packet="9d4e",
        runs=RUNS,
    )


def build_function(bank: Bank, card: FunctionCard = DELETE_EMAIL) -> Decision:
    """What a build records for a newly built Function Card."""
    changes = bank.plan_function(card, CardSupport(tasks=("email/7",)))
    operation = "NOOP" if not changes else "PATCH" if changes[0].before else "ADD"
    return Decision(operation=operation, reason="observed calls", by=RULES, candidate=card, changes=changes)


def refuse(bank: Bank) -> Decision:
    return Decision(
        operation=None, accepted=False, reason="cites an event that is not there", by=RULES, candidate=delta()
    )


def example_bank() -> Bank:
    """The two cards of the paper."""
    bank = Bank().apply(add(), "email", SUPPORT)
    return bank.with_changes(bank.plan_function(DELETE_EMAIL, CardSupport()))
