"""A collection whose work is kept: what grew since is computed, and all is as if nothing had been kept."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_runs import call, run

from contramem.contrast.collection import contrast_selected, learn_vocabulary
from contramem.contrast.packet import Packet
from contramem.contrast.packet_file import keep_finding
from contramem.contrast.vocabulary import Vocabulary
from contramem.kept_work import NO_WORK, KeptWork, Work
from contramem.traces.pool import Pool
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


class CountedWork:
    """Counts what is computed, by stage."""

    def __init__(self, work: Work) -> None:
        self.work, self.made = work, Counter[str]()

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return self.work.get(stage, keys)

    def find(self, stage: str, keys: Sequence[bytes]) -> set[bytes]:
        return self.work.find(stage, keys)

    def put(self, stage: str, results: Iterable[tuple[bytes, bytes]]) -> None:
        rows = list(results)
        self.made[stage] += len(rows)
        self.work.put(stage, rows)


def contrast_runs(runs: Iterable[Trajectory], work: Work) -> tuple[Vocabulary, list[Packet]]:
    with Pool(runs) as pool:
        vocabulary = learn_vocabulary(pool, work=work)
        with contrast_selected(pool, pool.tasks(), vocabulary, work=work) as packets:
            return vocabulary, list(packets)


def described(packets: Iterable[Packet]) -> list[object]:
    return [(packet, packet.content_digest, packet.recorded, packet.placeholders.originals()) for packet in packets]


@settings(max_examples=4)
@given(st.lists(st.integers(0, 12), max_size=8), st.lists(st.integers(0, 12), max_size=8), st.booleans())
def test_kept_work_changes_no_packet_and_no_word(before: list[int], after: list[int], regrow: bool) -> None:
    first = [attempt for task in before for attempt in attempts(task, "AB" if regrow else "ABC")]
    second = [*first, *(attempt for task in (*after, *before[:1]) for attempt in attempts(task))]
    with TemporaryDirectory() as folder, KeptWork(Path(folder, "work.db")) as work:
        contrast_runs(first, work)
        vocabulary, packets = contrast_runs(second, work)
    plain, expected = contrast_runs(second, NO_WORK)
    assert described(packets) == described(expected)
    assert vocabulary.closed == plain.closed


def test_after_a_new_task_only_that_task_is_contrasted(tmp_path: Path) -> None:
    runs = [attempt for task in range(8) for attempt in attempts(task)]
    with KeptWork(tmp_path / "work.db") as kept:
        contrast_runs(runs, kept)
        work = CountedWork(kept)
        contrast_runs([*runs, *attempts(8)], work)
    assert work.made["contrast"] == 1
    assert work.made["learn_shard"] == 1


class Damaged(KeptWork):
    """Kept work in which the words of many tasks were damaged."""

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {} if stage == "vocabulary" else super().get(stage, keys)


def test_words_that_were_kept_damaged_are_learned_again(tmp_path: Path) -> None:
    runs = [attempt for task in range(200) for attempt in attempts(task)]
    with KeptWork(tmp_path / "work.db") as work:
        first, _ = contrast_runs(runs, work)
    with Damaged(tmp_path / "work.db") as work:
        again, _ = contrast_runs(runs, work)
    assert again.closed == first.closed != frozenset()


def test_what_was_found_in_a_packet_is_kept_with_it(tmp_path: Path) -> None:
    def contrast_and_study() -> list[Packet]:
        with (
            KeptWork(tmp_path / "work.db") as work,
            Pool(attempts(1)) as pool,
            contrast_selected(pool, pool.tasks(), learn_vocabulary(pool), work=work, study=note_its_size) as packets,
        ):
            return list(packets)

    (made,), (found_again,) = contrast_and_study(), contrast_and_study()
    assert [keep_finding(packet, "size", refuse) for packet in (made, found_again)] == [3, 3]


def note_its_size(packet: Packet) -> None:
    keep_finding(packet, "size", lambda packet: len(packet.runs))


def refuse(packet: Packet) -> int:
    raise AssertionError("this was found before")


def test_a_new_word_of_an_app_has_its_tasks_contrasted_again(tmp_path: Path) -> None:
    runs = [attempt for task in range(3) for attempt in attempts(task)]
    more = [attempt for task in range(3, 12) for attempt in attempts(task)]
    with KeptWork(tmp_path / "work.db") as kept:
        before, packets = contrast_runs(runs, kept)
        after, again = contrast_runs([*runs, *more], kept)
    assert after.words("Desk.close", "state") > before.words("Desk.close", "state")
    assert packets[0].content_digest != again[0].content_digest


def test_the_digest_of_a_vocabulary_changes_with_what_it_says_about_the_functions() -> None:
    few, _ = contrast_runs(attempts(1), NO_WORK)
    many, _ = contrast_runs([attempt for task in range(12) for attempt in attempts(task)], NO_WORK)
    assert few.digest_for(["Desk.close"]) != many.digest_for(["Desk.close"])
    assert few.digest_for(["Mail.send"]) == many.digest_for(["Mail.send"])
    assert pickle.loads(pickle.dumps(many)).digest_for(["Desk.close"]) == many.digest_for(["Desk.close"])
