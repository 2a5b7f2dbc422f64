"""A collection whose work is kept: what grew since is computed, and all is as if nothing had been kept."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_runs import call, run

from contramem.collection.runs import open_collection
from contramem.contrast.packet import Packet
from contramem.contrast.packets import contrast_selected, keep_finding, learn_vocabulary
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Trajectory


def attempts(task: int, sources: Sequence[str] = ("A", "B", "C")) -> list[Trajectory]:
    """Runs that search before they close a case; the second forgets to, and its tool refuses."""
    state = ("closed", "open", "on hold")[task % 3]
    search = call("Desk.search", {"name": f"Person {task}"}, [{"id": f"C-{task}", "state": state}])
    close = call("Desk.close", {"id": f"C-{task}", "state": state, "queue": "north"})
    refused = call("Desk.close", {"id": f"X-{task}", "state": state, "queue": "north"}, error="no such case")
    texts = {"task": f"Close the case of Person {task}.", "task_id": f"t{task}"}
    return [
        run(source, source != "B", *([refused] if source == "B" else [search, close]), "Done.", **texts)
        for source in sources
    ]


def contrast_runs(
    runs: Iterable[Trajectory], kept: Path | None = None, study: Callable[[Packet], object] | None = None
) -> tuple[Vocabulary, list[Packet]]:
    """From what is kept of earlier runs, as far as it goes."""
    with open_collection(kept) as collection:
        before = collection.last_read
        collection.add_all(runs)
        collection.keep_only((), before)
        vocabulary = learn_vocabulary(collection)
        packets = list(contrast_selected(collection, collection.tasks(), vocabulary, study=study))
        collection.cache.drop_unused()
        return vocabulary, packets


def described(packets: Iterable[Packet]) -> list[object]:
    return [(packet, packet.content_digest, packet.recorded, packet.placeholders.originals()) for packet in packets]


@settings(max_examples=4)
@given(st.lists(st.integers(0, 12), max_size=8), st.lists(st.integers(0, 12), max_size=8), st.booleans())
def test_what_is_cached_changes_no_packet_and_no_word(before: list[int], after: list[int], regrow: bool) -> None:
    first = [attempt for task in before for attempt in attempts(task, "AB" if regrow else "ABC")]
    second = [*first, *(attempt for task in (*after, *before[:1]) for attempt in attempts(task))]
    with TemporaryDirectory() as folder:
        kept = Path(folder, "runs")
        contrast_runs(first, kept)
        vocabulary, packets = contrast_runs(second, kept)
    plain, expected = contrast_runs(second)
    assert described(packets) == described(expected)
    assert vocabulary.closed == plain.closed


def test_after_a_new_task_only_that_task_is_contrasted(tmp_path: Path) -> None:
    runs = [attempt for task in range(8) for attempt in attempts(task)]
    made: list[str] = []
    contrast_runs(runs, tmp_path / "runs")
    contrast_runs([*runs, *attempts(8)], tmp_path / "runs", study=lambda packet: made.append(packet.task_id))
    assert made == ["t8"]


def test_what_is_damaged_in_the_cache_is_made_again(tmp_path: Path) -> None:
    runs = [attempt for task in range(20) for attempt in attempts(task)]
    first, packets = contrast_runs(runs, tmp_path / "runs")
    with closing(sqlite3.connect(tmp_path / "runs", isolation_level=None)) as connection:
        connection.execute("UPDATE cache SET value = substr(value, 2)")
    again, made_again = contrast_runs(runs, tmp_path / "runs")
    assert again.closed == first.closed != frozenset()
    assert described(made_again) == described(packets)


def test_what_was_found_in_a_packet_is_cached_with_it(tmp_path: Path) -> None:
    _, (made,) = contrast_runs(attempts(1), tmp_path / "runs", note_its_size)
    _, (found_again,) = contrast_runs(attempts(1), tmp_path / "runs", refuse)
    assert [keep_finding(packet, "size", refuse) for packet in (made, found_again)] == [3, 3]


def note_its_size(packet: Packet) -> None:
    keep_finding(packet, "size", lambda packet: len(packet.runs))


def refuse(packet: Packet) -> int:
    raise AssertionError("this was found before")


def test_a_new_word_of_an_app_has_its_tasks_contrasted_again(tmp_path: Path) -> None:
    runs = [attempt for task in range(3) for attempt in attempts(task)]
    more = [attempt for task in range(3, 12) for attempt in attempts(task)]
    before, packets = contrast_runs(runs, tmp_path / "runs")
    after, again = contrast_runs([*runs, *more], tmp_path / "runs")
    assert after.words("Desk.close", "state") > before.words("Desk.close", "state")
    assert packets[0].content_digest != again[0].content_digest


def test_the_digest_of_a_vocabulary_changes_with_what_it_says_about_the_functions() -> None:
    few, _ = contrast_runs(attempts(1))
    many, _ = contrast_runs([attempt for task in range(12) for attempt in attempts(task)])
    assert few.digest_for(["Desk.close"]) != many.digest_for(["Desk.close"])
    assert few.digest_for(["Mail.send"]) == many.digest_for(["Mail.send"])
    assert pickle.loads(pickle.dumps(many)).digest_for(["Desk.close"]) == many.digest_for(["Desk.close"])
