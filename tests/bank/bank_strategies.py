"""Hypothesis strategies: patches that fit a bank, and what they are made of."""

from __future__ import annotations

from bank_examples import add, amend, delta
from hypothesis import strategies as st

from contramem.bank.bank import Bank, CardSupport, Merge, Narrow, Noop, Patch

ABILITIES = ("email", "travel")
# Few words, so that the same card is met again and again.
TEXTS = st.builds(delta, st.sampled_from(["Log in", "Ask first", "Check twice"]), st.sampled_from(["Do it.", "Wait."]))
SUPPORTS = st.builds(
    CardSupport,
    tasks=st.lists(st.sampled_from("abc"), max_size=2).map(tuple),
    scope=st.sampled_from([None, "universal"]),
)


@st.composite
def patches(draw: st.DrawFn, bank: Bank, ability: str) -> Patch:
    """A patch that fits `bank`."""
    ids = [card.card_id for card in bank.skills_of(ability)]
    operations = ["ADD", "NOOP"] + ["PATCH", "NARROW"] * bool(ids) + ["MERGE"] * (len(ids) > 1)
    operation = draw(st.sampled_from(operations))
    if operation == "ADD":
        return add(draw(TEXTS))
    if operation == "NOOP":
        return Noop(delta_index=0, reason="known", target_card_ids=tuple(ids[:1]))
    if operation == "MERGE":
        targets = draw(st.lists(st.sampled_from(ids), min_size=2, max_size=3, unique=True))
        text = draw(st.none() | TEXTS)
        return Merge(
            delta_index=0,
            reason="one rule",
            target_card_ids=tuple(targets),
            retained_card_id=draw(st.sampled_from(targets)),
            new_or_updated_card=text,
        )
    patch = amend(draw(st.sampled_from(ids)), draw(TEXTS))
    return patch if operation == "PATCH" else Narrow.model_validate({**dict(patch), "operation": "NARROW"})
