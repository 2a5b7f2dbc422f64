"""The policy on real runs: no original of a task is in anything that is printed of its packet, unless it is public."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ahocorasick_rs import AhoCorasick

from contramem.cli.contrast import as_json
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.privacy.public import Public
from contramem.traces.read import read_traces

SECRET = ("EMAIL", "PHONE", "ACCOUNT", "ID", "PERSON", "URL")


def printed(made: Packet) -> Iterator[str]:
    """Every text of a packet that comes from its runs: all but the names of tasks, files and sources."""
    whole = as_json(made)
    yield from strings(msgspec.to_builtins([whole["task"], whole["runs"], whole["signals"]]))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from strings(key)
            yield from strings(child)
    elif isinstance(value, (list, tuple)):
        for child in value:
            yield from strings(child)
    elif isinstance(value, str):
        yield value


def secrets(made: Packet, interface: set[str], public: Public) -> list[str]:
    """The originals that must not be seen. Numbers too short to tell anything occur as counts, days and positions."""
    originals = {
        original.lower().strip()
        for name, original in made.placeholders.originals().items()
        if name.strip("<>").rpartition("_")[0] in SECRET
    }
    seen = (value for value in originals if len(value) > (3 if value.isdigit() else 2) and value not in interface)
    return [value for value in seen if not public.shares(value)]


def leaks(made: Packet, public: Public) -> set[str]:
    """Originals that are printed, but for what is public: the value itself, or a longer one that holds it."""
    functions = {step.function for one in made.runs for step in one.steps}
    fields = {name for one in made.runs for step in one.steps if step.form for name in step.form.fields}
    arguments = {name for one in made.runs for step in one.steps for name in step.arguments}
    interface = {name.lower() for name in {*functions, *fields, *arguments}}
    wanted = secrets(made, interface, public)
    text = "\n".join(part for part in printed(made) if not public.shares(part)).lower()
    return {
        wanted[index]
        for index, start, end in AhoCorasick(wanted).find_matches_as_indexes(text, overlapping=True)
        if not (text[start - 1 : start].isalnum() and text[start].isalnum())
        and not (text[end : end + 1].isalnum() and text[end - 1].isalnum())
        and text[start - 1 : start] != "_" != text[end : end + 1]  # a part of an identifier is not the value
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("archive", "tasks", "public"),
    [
        pytest.param(
            "agentdojo/runs_no_attack.tar.xz", 77, {"alice", "bob", "charlie", "eve", "facebook"}, id="agentdojo"
        ),
        pytest.param("tau_bench/retail.tar.xz", 75, set(), id="tau-bench retail"),
        pytest.param("tau2_bench/telecom.tar.xz", 100, set(), id="tau2 telecom"),
    ],
)
def test_no_real_packet_prints_an_original_value_that_is_not_public(
    shared_data: Path, archive: str, tasks: int, public: set[str]
) -> None:
    with Collection(read_traces([shared_data / archive])) as pool:
        vocabulary = Vocabulary(pool)
        made = list(contrast(pool, vocabulary))
    assert len(made) == tasks
    found = {each.task_key: leaks(each, vocabulary.public) for each in made}
    assert {task: values for task, values in found.items() if values} == {}
    # Where nothing is public, the search finds all that is shown because many share it.
    assert set[str]().union(*(leaks(each, Public()) for each in made)) == public
