"""The entrances of authors: what the instruments tell a model, and an author that copies what it reads onto cards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from attacks.exits import FENCE, Written, run
from contramem.traces.read import read_traces

COPIED_APPS = 60
MIN_WORDS = 5


def write_as_author(traces: Path, folder: Path) -> Iterator[Written]:
    """Everything that the instruments say, and the cards that an obedient author gets into a bank."""
    yield from _instruments(traces, folder)
    for words in (("kinds", traces), ("explain", traces), ("query", traces, "SELECT * FROM calls LIMIT 200")):
        yield run(*words, cwd=folder)._replace(exit="run views")
    proposals = list(_copied_cards(traces))
    (folder / "copied.json").write_text(json.dumps(proposals, ensure_ascii=False), encoding="utf-8")
    words = ("bank", "propose", "authored.db", "copied.json", "--by", "author", "--runs", traces, "--yes")
    yield run(*words, cwd=folder, may_fail=True)._replace(exit="run views")  # refusals repeat what was proposed
    if (folder / "authored.db").exists():
        run("bank", "freeze", "authored.db", "--out", "authored.jsonl", cwd=folder)
        for line in (folder / "authored.jsonl").read_text(encoding="utf-8").splitlines():
            yield Written("authored bank", "authored.jsonl", line)
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


def _copied_cards(traces: Path) -> Iterator[dict[str, object]]:
    """For each app the longest text in its runs, as the rule of a card whose guard the runs bear out."""
    longest: dict[str, str] = {}
    for recorded in read_traces([traces]):  # as whoever uses the instruments sees runs
        app = recorded.task.partition(" at ")[2].partition(":")[0]
        for text in _texts(msgspec.to_builtins(recorded.events[1:])):
            if len(text.split()) >= MIN_WORDS and len(text) > len(longest.get(app, "")):
                longest[app] = text
    for app, text in list(longest.items())[:COPIED_APPS]:
        said = re.sub(r"\s+", " ", text)[:380]
        yield {
            "title": f"Sign in first at {app}",
            "when": "A refund is asked for.",
            "rule": said,
            "guards": [f"precedence({app}.sign_in, {app}.issue_refund)"],
            "ability": "refunds",
        }


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for child in value.values() for text in _texts(child))
    elif isinstance(value, list):
        yield from (text for child in value for text in _texts(child))
