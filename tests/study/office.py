"""A small office with one house rule: a credit note above 500 goes to the finance lead, a smaller one to nobody."""

from __future__ import annotations

from pathlib import Path

from tests.made_runs import call, run

from contramem.traces.trajectory import Trajectory
from contramem.traces.write import write_traces

NOTE_RULE = "response(Office.create_note, Office.assign_owner) when Office.create_note[amount > 500]"
_AMOUNTS = (80, 120, 260, 300, 410, 450, 480, 90, 520, 610, 700, 880, 950, 1200, 640, 590)
_CONTACTS = ("Marta Quill", "Jon Abara", "Mei Sato", "Lena Vogt")


def note_office() -> list[Trajectory]:
    """16 credit notes and 4 look-ups: `careful` knows the rule, `eager` always assigns, `hasty` never does."""
    runs = []
    for number, amount in enumerate(_AMOUNTS):
        task = f"Write a credit note over {amount} for invoice INV-{9000 + number}, please."
        note = call(
            "Office.create_note", {"invoice": f"INV-{9000 + number}", "amount": amount}, {"note": f"N-{number}"}
        )
        assign = call("Office.assign_owner", {"note": f"N-{number}", "owner": "finance-lead"})
        for source, assigns in (("careful", amount > 500), ("eager", True), ("hasty", False)):
            steps = [note, assign] if assigns else [note]
            passed = assigns == (amount > 500)
            runs.append(run(source, passed, *steps, "Done.", task=task, task_id=f"note-{number}"))
    for number in range(4):
        order = {"order": f"SO-{700 + number}", "status": "open", "contact": _CONTACTS[number]}
        look = call("Office.look", {"order": f"SO-{700 + number}"}, order)
        for source in ("careful", "eager", "hasty"):
            task = f"Where does our order SO-{700 + number} stand at the moment?"
            runs.append(run(source, True, look, "It is open.", task=task, task_id=f"look-{number}"))
    return runs


def write_office(folder: Path) -> str:
    write_traces(note_office(), folder / "office.jsonl")
    return str(folder / "office.jsonl")
