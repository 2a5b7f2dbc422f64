"""A build in small: packets with three deltas each, decided one by one, resumed from the progress in the store.

python small_build.py STORE PACKETS DIES_AFTER_S

The last is in processor time of its own: how far it comes before it is killed does not depend on what else is running.
"""

from __future__ import annotations

import signal
import sys
from random import Random

from bank_examples import add, amend, decide, delta, refuse

from contramem.bank.bank import Bank, CardSupport, Merge, Noop
from contramem.bank.ledger import Decision
from contramem.bank.store import Store, open_store

DELTAS = 3


def build(store: Store, packets: int) -> None:
    """Decide on every delta that the store does not know as decided."""
    bank, progress = store.bank(), store.progress()
    for packet in range(packets):
        step = f"packet {packet}"
        for place in range(int(progress.get(step, "0")), DELTAS):
            decision = next_decision(bank, packet, place)
            store.record(decision, progress={step: str(place + 1)})
            bank = bank.with_changes(decision.changes)


def next_decision(bank: Bank, packet: int, place: int) -> Decision:
    """What is decided depends on the delta and on the bank so far, and on nothing else."""
    rng = Random(f"{packet}/{place}")
    text, support = delta(f"Rule {packet}.{place}"), CardSupport(tasks=(f"task {packet}",))
    ids = [card.card_id for card in bank.skills]
    choice = rng.random()
    if choice < 0.1:
        return refuse(bank)
    if choice < 0.5 or len(ids) < 2:
        return decide(bank, add(text), support=support)
    one, other = rng.sample(ids, 2)
    if choice < 0.7:
        return decide(bank, amend(one, text), support=bank.combine_support([one]) + support)
    if choice < 0.9:
        merge = Merge(delta_index=place, reason="one rule", target_card_ids=(one, other), retained_card_id=one)
        return decide(bank, merge)
    return decide(bank, Noop(delta_index=place, reason="known", target_card_ids=(one,)))


if __name__ == "__main__":
    with open_store(sys.argv[1], create=True) as living, living.writing("build"):
        print("ready", flush=True)
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[3]))  # the signal ends a process that does not handle it
        build(living, int(sys.argv[2]))
