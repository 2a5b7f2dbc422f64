"""Ten of the best cards that `contramem build` makes from the shipped runs, with the runs behind them.

`python examples/gallery.py > docs/gallery.md`; a test keeps the document up to date.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from contramem.bank.bank import BankEntry
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.ledger import RunRef
from contramem.bank.render import card_markdown
from contramem.bank.store import Store, open_store
from contramem.pipeline import learn
from contramem.traces.read import read_traces

RUNS = Path(__file__).parent / "runs"
SKILLS, FUNCTIONS = 8, 2
KINDS = ("precedence", "known_value", "recovery", "response", "every item", "at_most_once")
HEAD = """# Gallery

Ten cards that `contramem build examples/runs` makes from the runs that ship, by rules and without a model, with the
runs behind them: of each kind of rule those with the most evidence. The runs are of scripted agents, really executed in
BFCL's tool backends ([examples](../examples/README.md)). Made by `python examples/gallery.py`.
"""


def gallery() -> str:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "cards.db", create=True) as store:
        learn(read_traces([RUNS]), store)
        return "\n".join([HEAD, *_cards(store)])


def _cards(store: Store) -> Iterator[str]:
    for held in best(store):
        yield f"{card_markdown(held.card).rstrip()}\n"
        yield f"*{held.card.card_id} rests on {held.support}.*\n"
        if isinstance(held.card, SkillCard):
            yield _runs(store, held)


def best(store: Store) -> list[BankEntry]:
    """Of each kind the two Skill Cards that most tasks and runs bear out, then the fullest Function Cards."""
    served = [held for held in store.bank().entries.values() if held.served]
    skills = sorted((held for held in served if isinstance(held.card, SkillCard)), key=_evidence, reverse=True)
    functions = sorted((held for held in served if isinstance(held.card, FunctionCard)), key=_fullness, reverse=True)
    of_kinds = [held for kind in KINDS for held in [one for one in skills if _kind(one) == kind][:2]]
    rest = [held for held in skills if held not in of_kinds and _kind(held) in KINDS]
    return [*of_kinds, *rest][:SKILLS] + functions[:FUNCTIONS]


def _evidence(held: BankEntry) -> tuple[int, int, str]:
    runs = sum(counts.held + counts.broken for counts in held.support.guard_counts.values())
    return len(held.support.tasks), runs, held.card.card_id


def _fullness(held: BankEntry) -> tuple[int, int, str]:
    card = held.card
    assert isinstance(card, FunctionCard)
    return len(card.common_mistakes), len(card.usage_rules) + len(card.arguments), card.card_id


def _kind(held: BankEntry) -> str:
    card = held.card
    assert isinstance(card, SkillCard)
    if card.guards:
        return card.guards[0].partition("(")[0]
    return "recovery" if card.skill.recovery else "every item" if "every item" in card.title else "other"


def _runs(store: Store, held: BankEntry) -> str:
    refs = [ref for entry in store.ledger(held.card.card_id) for ref in entry.decision.runs]
    rows = [f"| {_short(ref)} | {ref.source} | {'passed' if ref.passed else 'failed'} |" for ref in refs[:8]]
    return "\n".join(["| task | agent | outcome |", "|---|---|---|", *rows, ""])


def _short(ref: RunRef) -> str:
    return ref.task.rpartition("/")[2].partition("#")[0]


if __name__ == "__main__":
    print(gallery(), end="")
