"""The entrances of authors: what the instruments tell a model, and an author that copies what it reads onto cards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from attacks.exits import FENCE, Failed, Written, run
from contramem.traces.characters import remove_hidden

COPIED_TEXTS = 120

Planted = tuple[str, str]
"""An app, and a text as it stands in its runs."""


def write_as_author(traces: Path, folder: Path, planted: Sequence[Planted], world: ModuleType) -> Iterator[Written]:
    """Everything that the instruments say, and the cards that an obedient author gets into a bank."""
    yield from _instruments(traces, folder)
    for words in (("kinds", traces), ("explain", traces), ("query", traces, "SELECT * FROM calls LIMIT 200")):
        yield run(*words, cwd=folder)._replace(exit="run views")
    proposals = list(_copied_cards(planted[:: max(1, len(planted) // COPIED_TEXTS)], world))
    (folder / "copied.json").write_text(json.dumps(proposals, ensure_ascii=False), encoding="utf-8")
    words = ("bank", "propose", "authored.db", "copied.json", "--by", "author", "--runs", traces, "--yes")
    yield run(*words, cwd=folder, may_fail=True)._replace(exit="run views")  # refusals repeat what was proposed
    run("bank", "freeze", "authored.db", "--out", "authored.jsonl", cwd=folder)
    lines = (folder / "authored.jsonl").read_text(encoding="utf-8").splitlines()
    if len(lines) <= 1:
        raise Failed("no card in honest words went in, so that none was copied proves nothing")
    yield from (Written("authored bank", "authored.jsonl", line) for line in lines)
    yield run("watch", traces, "--bank", "watched.db", "--serve", "watched.jsonl", "--once", cwd=folder)
    if (folder / "watched.jsonl").exists():
        yield from (
            Written("bank", "watched.jsonl", line)
            for line in (folder / "watched.jsonl").read_text(encoding="utf-8").splitlines()
        )


def _instruments(traces: Path, folder: Path) -> Iterator[Written]:
    from contramem.bank.bank import Bank
    from contramem.cli.study_runs import study_runs
    from contramem.study.instruments import Instruments
    from contramem.traces.reader import ReadOptions

    class Desk:
        def bank(self) -> Bank:
            return Bank()

        def propose(self, proposal: object, carry_out_edits: bool) -> object:
            raise AssertionError("nothing is proposed here")

    with study_runs((traces,), ReadOptions()) as study, study.tables() as tables:
        tools = Instruments(study.run_set, tables, Desk(), "author", folder / "trials.jsonl")  # type: ignore[arg-type]
        answers = [
            tools.show_kinds(),
            tools.explain_runs(limit=3),
            *(
                tools.query_runs(f"SELECT * FROM {table} LIMIT 200")
                for table in ("runs", "calls", "results", "messages")
            ),
        ]
    for answer in answers:
        yield Written("author outside", "around the data marks", FENCE.sub(" ", answer))
        yield from (Written("author quoted", fence[1], fence[3]) for fence in FENCE.finditer(answer))


def _copied_cards(planted: Iterable[Planted], world: ModuleType) -> Iterator[dict[str, object]]:
    """For each text that stands in runs cards whose guard the runs bear out: with the text whole, in quotation marks,
    shortened, with words in between, and in the title. And one in words of its own, which has to go in."""
    for app, text in planted:
        words = remove_hidden(text)[:340].split()
        said = " ".join(words)
        honest = world.honest_card(app)
        yield honest
        for rule in (
            said,
            f'Where a call says "{said}", sign in again.',
            " ".join(words[-8:]),
            " and ".join(" ".join(words[start : start + 6]) for start in range(0, len(words), 6)),
        ):
            yield honest | {"rule": rule}
        yield honest | {"title": f"Know {' '.join(words[-12:])[:100]}"}
