"""What is public in a collection. Everything else is one run's own: a placeholder in a packet, refused on a card.

Public is the interface, what several tasks and sources share, and ordinary language. All of it is counted in one pass
over the values of all calls; the parts that are counted side by side add up to the same, in whatever order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar
from zlib import crc32

from contramem.collection.cache import Job, digest_parts
from contramem.collection.runs import Collection, Shard
from contramem.collection.slots import Scalar, Slot, leaves_of, slots_of_call
from contramem.engine import SERIAL, Engine
from contramem.privacy.instructions import read, without_instructions
from contramem.privacy.language import ENGLISH, word_test
from contramem.privacy.personal import find_personal
from contramem.privacy.taint import find_tainted_calls, texts_shown
from contramem.traces.effects import words
from contramem.traces.trajectory import Event, Tool, Trajectory

FEW_RUNS = 8
"""Of fewer runs, whatever they call is the interface."""
MAX_VALUE_CHARS = 60
MAX_VALUE_WORDS = 5
"""Longer values are text."""
MIN_OPEN_TASKS, OPEN_SHARE = 4, 0.1
"""In a slot of which under half of the values recur, a value is shared by this many tasks, or this share of them."""
MAX_NAME_WORDS = 6
"""Of ordinary words: for such a name, two tasks or two sources are enough."""
MAX_PROSE_CHARS = 2_000
VALUES_PER_SLOT = 1_000
MAX_SENTENCES = 20_000
MAX_ERRORS = 5_000
MAX_TRADE_WORDS = 5_000
MIN_TRADE_TASKS = 3
"""That have a word in lower case which is no ordinary one: a word of the trade."""
MAX_SENTENCE_WORDS = 40
MIN_SENTENCE_WORDS = 3
PLANTED_WORDS = 4
"""In a row, they repeat an instruction."""

SlotName: TypeAlias = tuple[str, str, bool]
"""A function, the path of an argument or of a field, and whether it is in the result."""
Key = TypeVar("Key")


class Quorum(NamedTuple):
    """How many must agree."""

    tasks: int = 2
    sources: int = 2
    """For each that is missing, one task more: with one source, three tasks."""

    def of(self, sources: int) -> Quorum:
        """For a collection with so many sources."""
        missing = max(0, self.sources - max(1, sources))
        return Quorum(self.tasks + missing, self.sources - missing)


QUORUM = Quorum()


@dataclass(slots=True)
class _Seen:
    """In how many tasks and by whom something was seen."""

    tasks: int = 0
    sources: set[str] = field(default_factory=set)
    records: set[int] = field(default_factory=set)
    """Digests of two different records that a value was in, at most: one record seen often is still one."""
    value: Scalar = ""
    names_one: bool = False
    """Does it stand beside an id in a record, as its name?"""
    is_chosen: bool = True
    """Did a run use it without having read it in a result?"""

    def add(self, other: _Seen) -> None:
        self.tasks += other.tasks
        self.sources |= other.sources
        self.records = set(sorted(self.records | other.records)[:2])
        self.value = min(self.value, other.value, key=_order)
        self.names_one |= other.names_one
        self.is_chosen |= other.is_chosen

    def meets(self, quorum: Quorum) -> bool:
        return self.tasks >= quorum.tasks and len(self.sources) >= quorum.sources


class _Sample(Generic[Key]):
    """Counts of at most so many keys: those with the smallest digests, which are the same whatever comes first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.counts: dict[Key, _Seen] = {}

    def add(self, key: Key, seen: _Seen) -> None:
        mine = self.counts.get(key)
        if mine is None:
            self.counts[key] = seen
            if len(self.counts) >= 2 * self.size:
                self.shrink()
        else:
            mine.add(seen)

    def add_all(self, other: _Sample[Key]) -> None:
        for key, seen in other.counts.items():
            self.add(key, seen)

    def shrink(self) -> None:
        if len(self.counts) > self.size:
            kept = sorted(self.counts, key=lambda key: (crc32(repr(key).encode("utf-8", "replace")), repr(key)))
            self.counts = {key: self.counts[key] for key in kept[: self.size]}


class Counts:
    """What some tasks show. Those of all tasks add up."""

    def __init__(self) -> None:
        self.runs = 0
        self.sources: set[str] = set()
        self.tasks = 0
        self.declared: set[str] = set()
        self.documented: set[str] = set()
        """Words of manuals."""
        self.choices: set[tuple[SlotName, Scalar]] = set()
        self.called: set[str] = set()
        self.used: dict[str, _Seen] = defaultdict(_Seen)
        self.slots: dict[SlotName, int] = defaultdict(int)
        """In how many tasks."""
        self.values: dict[SlotName, _Sample[str]] = defaultdict(partial(_Sample, VALUES_PER_SLOT))
        self.sentences = _Sample[str](MAX_SENTENCES)
        self.errors = _Sample[tuple[str, str]](MAX_ERRORS)
        self.met: set[str] = set()
        """Ordinary words that texts have in lower case."""
        self.trade = _Sample[str](MAX_TRADE_WORDS)
        """Other words that texts have in lower case."""

    def learn(self, runs: list[Trajectory], is_word: Callable[[str], bool]) -> None:
        """Count one task."""
        task = _Task()
        for run in runs:
            self._learn_run(run, task, is_word)
        self.tasks += 1
        for name, seen in task.used.items():
            self.used[name].add(seen)
        for slot, values in task.values.items():
            self.slots[slot] += 1
            for value, seen in values.items():
                self.values[slot].add(value, seen)
        for sentence, seen in task.sentences.items():
            self.sentences.add(sentence, seen)
        for error, seen in task.errors.items():
            self.errors.add(error, seen)
        for word, seen in task.trade.items():
            self.trade.add(word, seen)

    def _learn_run(self, run: Trajectory, task: _Task, is_word: Callable[[str], bool]) -> None:
        self.runs += 1
        self.sources.add(run.source)
        for tool in run.tools:
            self._learn_tool(tool)
        tainted, planted = find_tainted_calls(run), _Planted(run)
        texts = [run.task, *(event.text for event in run.events)]
        for word in {word for text in texts for word in _LOWER.findall(text[:MAX_PROSE_CHARS])}:
            if is_word(word):
                self.met.add(word)
            elif not planted.teaches(word):
                task.see(task.trade, word, run)
        shown: list[str] = []
        for event in run.events:
            if event.function:
                self.called.update((event.function, *event.arguments))
            if event.position in tainted:
                continue
            if event.function:
                self._learn_call(event, run, task, planted, shown)
            said = [event.text] if event.actor == "agent" and event.kind in ("message", "final") else []
            said += [value for _, _, value in leaves_of(event.arguments) if isinstance(value, str) and " " in value]
            for text in said if run.outcome.passed else ():
                for sentence in () if planted.teaches(text) else sentences_of(text, is_word):
                    task.see(task.sentences, sentence, run)

    def _learn_tool(self, tool: Tool) -> None:
        self.declared.add(tool.function)
        self.documented.update(_LOWER.findall(tool.description))
        for path, schema in properties_of(tool.parameters):
            self.declared.update((path, path.rpartition(".")[2]))
            self.documented.update(_LOWER.findall(str(schema.get("description") or "")))
            choices = schema.get("enum")
            for choice in choices if isinstance(choices, list) else ():
                if isinstance(choice, (str, int, float)):
                    self.choices.add(((tool.function, path, False), choice))

    def _learn_call(self, event: Event, run: Trajectory, task: _Task, planted: _Planted, shown: list[str]) -> None:
        is_answered = event.result is not None and not event.result.error
        if is_answered:
            task.see(task.used, event.function, run)
        elif event.result is not None and event.result.error and not planted.teaches(event.result.error):
            task.see(task.errors, (event.function, error_form(event.result.error)), run)
        slots = list(slots_of_call(event))
        taught = (slot for slot in slots if is_field_path(slot.path) and not planted.teaches(slot.text))
        for _, record in groupby(taught, lambda slot: (slot.returned, slot.item)):
            self._learn_record(list(record), run, task, is_answered, shown)
        shown.append("\n".join(f"{slot.path}\n{slot.value}" for slot in slots if slot.returned).casefold())

    def _learn_record(
        self, record: list[Slot], run: Trajectory, task: _Task, is_answered: bool, shown: list[str]
    ) -> None:
        """The values of one record, or of the arguments of one call."""
        texts = [(slot.path, canon(slot.value)) for slot in record]
        ids = [pair for pair in texts if is_id_name(pair[0])]
        is_result = record[0].returned
        identity = (ids or texts) if is_result and len(texts) > 1 else run.task_key
        digest = crc32(repr(identity).encode("utf-8", "replace"))
        for slot, (path, text) in zip(record, texts, strict=True):
            if is_answered:
                for name in filter(None, (path, path.rpartition(".")[2])):
                    task.see(task.used, name, run)
            if text and len(text) <= MAX_PROSE_CHARS and not is_masked(slot.value):
                seen = task.see(task.values[slot.function, path, slot.returned], text, run, slot.value)
                is_copied = not is_result and isinstance(slot.value, str) and any(text in result for result in shown)
                seen.is_chosen = (seen.is_chosen and bool(seen.records)) or not is_copied
                seen.records = set(sorted(seen.records | {digest})[:2])
                seen.names_one |= bool(ids) and is_result and words(path)[-1:] in (["name"], ["title"], ["label"])

    def add(self, other: Counts) -> None:
        """Add what was counted in other tasks."""
        self.runs += other.runs
        self.tasks += other.tasks
        for own, others in (
            (self.sources, other.sources), (self.declared, other.declared), (self.documented, other.documented),
            (self.called, other.called), (self.met, other.met),
        ):  # fmt: skip
            own |= others
        self.choices |= other.choices
        for name, seen in other.used.items():
            self.used[name].add(seen)
        for slot, tasks in other.slots.items():
            self.slots[slot] += tasks
        for slot, sample in other.values.items():
            self.values[slot].add_all(sample)
        self.sentences.add_all(other.sentences)
        self.errors.add_all(other.errors)
        self.trade.add_all(other.trade)

    def settle(self, quorum: Quorum, language: str | None) -> Public:
        quorum = quorum.of(len(self.sources))
        few = Quorum(min(quorum.tasks, self.tasks), quorum.sources)
        names = self.declared | {
            name
            for name, seen in self.used.items()
            if seen.meets(few)
            or seen.tasks >= few.tasks + few.sources - 1  # of one source alone
            or (max(seen.tasks, len(seen.sources)) >= few.tasks > 1 and is_plain_name(name, word_test(language)))
        }
        if self.runs < FEW_RUNS:
            names |= self.called | self.used.keys()
        samples = self.values.values()
        named = {text for sample in samples for text, seen in sample.counts.items() if seen.names_one}
        values = {slot: self._settle_slot(slot, quorum, named) for slot in self.values}
        received = {text for (_, _, returned), shared in values.items() if returned for text in shared}
        for slot, shared in values.items():
            counts = self.values[slot].counts
            values[slot] = {
                text: value for text, value in shared.items() if slot[2] or counts[text].is_chosen or text in received
            }
        closed: dict[SlotName, dict[str, Scalar]] = defaultdict(dict)
        for slot, choice in self.choices:
            closed[slot][canon(choice)] = choice
        for slot, shared in values.items():
            closed[slot].update(shared)
        self.sentences.shrink()
        self.errors.shrink()
        self.trade.shrink()
        several = Quorum(max(quorum.tasks, MIN_TRADE_TASKS), quorum.sources)
        return Public(
            names=frozenset(names),
            values={slot: dict(sorted(shared.items())) for slot, shared in sorted(closed.items()) if shared},
            sentences=frozenset(key for key, seen in self.sentences.counts.items() if seen.meets(quorum)),
            errors=frozenset(key for key, seen in self.errors.counts.items() if seen.meets(few)),
            met=frozenset(self.met | {word for word, seen in self.trade.counts.items() if seen.meets(several)}),
            documented=frozenset(self.documented),
            open_slots=frozenset(slot for slot, sample in self.values.items() if self._is_open(sample)),
            language=language,
        )

    def _settle_slot(self, slot: SlotName, quorum: Quorum, named: set[str]) -> dict[str, Scalar]:
        sample = self.values[slot]
        sample.shrink()
        least = max(MIN_OPEN_TASKS, OPEN_SHARE * self.slots[slot]) if self._is_open(sample) else 0
        return {
            text: seen.value
            for text, seen in sample.counts.items()
            if seen.meets(quorum)
            and len(seen.records) > 1
            and seen.tasks >= (max(least, MIN_OPEN_TASKS - 1) if len(text.split()) > MAX_VALUE_WORDS else least)
            and text not in named
            and may_be_shared(slot, seen.value)
        }

    @staticmethod
    def _is_open(sample: _Sample[str]) -> bool:
        """Are most uses of a slot of values that do not recur?"""
        once = sum(seen.tasks == 1 or len(seen.records) < 2 for seen in sample.counts.values())
        return 2 * once > sum(seen.tasks for seen in sample.counts.values())


class _Task:
    """What the runs of one task show, each thing once."""

    def __init__(self) -> None:
        self.used: dict[str, _Seen] = {}
        self.values: dict[SlotName, dict[str, _Seen]] = defaultdict(dict)
        self.sentences: dict[str, _Seen] = {}
        self.errors: dict[tuple[str, str], _Seen] = {}
        self.trade: dict[str, _Seen] = {}

    @staticmethod
    def see(counts: dict[Key, _Seen], key: Key, run: Trajectory, value: Scalar = "") -> _Seen:
        seen = counts.setdefault(key, _Seen(tasks=1, value=value))
        seen.sources.add(run.source)
        seen.value = min(seen.value, value, key=_order)
        return seen


class _Planted:
    """What instructions in results said to a run. It teaches nothing, and nor does what repeats it."""

    def __init__(self, run: Trajectory) -> None:
        passages = [passage for event in run.events for text in texts_shown(event) for passage in read(text).passages]
        self._text = " ".join(" ".join(passages).casefold().split())
        self._rows = frozenset(_rows_of_words(self._text))
        self._known: dict[str, bool] = {}

    def teaches(self, text: str) -> bool:
        """Does the text stand in what was planted, or repeat some words in a row of it?"""
        if not self._text:
            return False
        if text not in self._known:
            self._known[text] = self._repeats(text)
        return self._known[text]

    def _repeats(self, text: str) -> bool:
        folded = " ".join(text.casefold().split())
        return (len(folded) > 2 and folded in self._text) or not self._rows.isdisjoint(_rows_of_words(folded))


def _rows_of_words(text: str) -> Iterator[tuple[str, ...]]:
    found = _WORDS.findall(text)
    return (tuple(found[start : start + PLANTED_WORDS]) for start in range(len(found) - PLANTED_WORDS + 1))


@dataclass(frozen=True)
class Public:
    """What is public in a collection. Learned by `learn_public`; with nothing learned, only ordinary language is."""

    names: frozenset[str] = frozenset()
    values: Mapping[SlotName, Mapping[str, Scalar]] = field(default_factory=dict)
    sentences: frozenset[str] = frozenset()
    errors: frozenset[tuple[str, str]] = frozenset()
    met: frozenset[str] = frozenset()
    documented: frozenset[str] = frozenset()
    open_slots: frozenset[SlotName] = frozenset()
    language: str | None = ENGLISH
    """Whose ordinary words are public: a code, the path of a list with a word on each line, or None."""

    def name(self, text: str) -> bool:
        """Is it a function, an argument, a field or a choice of the interface?"""
        return text in self.names or text in self._choices

    def value(self, function: str, path: str, returned: bool, value: Scalar) -> bool:
        """Do several tasks and sources have this value in this slot, or does the schema list it?"""
        return isinstance(value, bool) or canon(value) in self.values.get((function, path, returned), ())

    def closed(self, function: str, path: str, returned: bool = False) -> tuple[Scalar, ...]:
        """All public values of a slot."""
        return tuple(self.values.get((function, path, returned), {}).values())

    def word(self, word: str) -> bool:
        """Is it ordinary language, or a word of the interface or of a shared value? A capitalised word is if it is
        met in lower case, too: otherwise it may be a name."""
        folded = word.lower().replace("’", "'")
        if folded in self._own_words or word in self._shared_words:
            return True
        return folded in self.met or (word.islower() and word_test(self.language)(folded))

    def also(self, choices: Mapping[tuple[str, str], Iterable[Scalar]]) -> Public:
        """With choices of arguments, which tools say they accept."""
        values = {slot: dict(shared) for slot, shared in self.values.items()}
        for (function, argument), accepted in choices.items():
            values.setdefault((function, argument, False), {}).update((canon(each), each) for each in accepted)
        return replace(self, values=values)

    def shares(self, text: str) -> bool:
        """Is it a shared value, in whatever slot?"""
        return canon(text) in self._anywhere

    def says(self, sentence: str) -> bool:
        """Did passing runs of several tasks and sources write this sentence, or part of one, but for values?"""
        said = sentences_of(sentence, word_test(self.language))
        return bool(said) and all(f" {each} " in self._all_sentences for each in said)

    @cached_property
    def _all_sentences(self) -> str:
        return "".join(f" {sentence} \n" for sentence in sorted(self.sentences))

    def error(self, function: str, message: str) -> str:
        """What may be said of an error: empty unless several tasks and sources met it."""
        return self.text(message) if (function, error_form(message)) in self.errors else ""

    def text(self, text: str) -> str:
        """What of a text may be said; the rest as placeholders."""
        shown, end = [], 0
        text = without_instructions(text)
        personal = sorted(find_personal(text), key=lambda found: (found.start, -found.end))
        for start, stop, kind in personal:
            if start >= end:
                shown += [self._say(text[end:start]), f"<{kind}>"]
                end = stop
        return _SAME_AGAIN.sub(r"\1", "".join([*shown, self._say(text[end:])]))

    def _say(self, text: str) -> str:
        return _TOKEN.sub(lambda token: self._say_token(text, token), text)

    def _say_token(self, text: str, token: re.Match[str]) -> str:
        said = token[0]
        if said in self.names or canon(said) in self._anywhere:
            return said
        if any(char.isdecimal() for char in said):
            return "<NUMBER>" if _NUMBER.fullmatch(said) else "<ID>"
        if self.word(said) or (_starts_sentence(text, token.start()) and self.word(said.lower())):
            return said
        return "<NAME>"

    @cached_property
    def long_values(self) -> tuple[str, ...]:
        """Shared values that are text: policies that a tool prints."""
        values = {value for shared in self.values.values() for value in shared.values()}
        return tuple(sorted(value for value in values if isinstance(value, str) and len(value) > MAX_VALUE_CHARS))

    @cached_property
    def _choices(self) -> frozenset[str]:
        return frozenset(
            str(value) for (_, _, back), shared in self.values.items() if not back for value in shared.values()
        )

    @cached_property
    def _anywhere(self) -> frozenset[str]:
        return frozenset(text for shared in self.values.values() for text in shared)

    @cached_property
    def _own_words(self) -> frozenset[str]:
        named = {word for name in self.names for word in words(name) if len(word) > 1}
        return self.documented.union(named, *(_LOWER.findall(error) for _, error in self.errors))

    @cached_property
    def _shared_words(self) -> frozenset[str]:
        values = (value for shared in self.values.values() for value in shared.values() if isinstance(value, str))
        return frozenset(word for value in values if len(value) <= MAX_VALUE_CHARS for word in _PIECE.findall(value))

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def learn_public(
    collection: Collection, engine: Engine = SERIAL, quorum: Quorum = QUORUM, language: str | None = ENGLISH
) -> Public:
    """What is public in all runs of a collection."""
    groups = list(collection.groups())
    jobs = (Job(digest_parts(group.content, language), partial(collection.read_tasks, group.keys)) for group in groups)
    whole = Counts()
    for counts in collection.cache.compute(engine, count_shard, jobs, language):
        whole.add(counts)
    return whole.settle(quorum, language)


def public_of(tasks: Iterable[list[Trajectory]], quorum: Quorum = QUORUM, language: str | None = ENGLISH) -> Public:
    """The same of tasks in memory."""
    return _count(tasks, language).settle(quorum, language)


def count_shard(language: str | None, shard: Shard) -> Counts:
    """Count some tasks. A job for an engine."""
    return _count(shard.decode(), language)


def _count(tasks: Iterable[list[Trajectory]], language: str | None) -> Counts:
    counts = Counts()
    for runs in tasks:
        counts.learn(runs, word_test(language))
    return counts


def _order(value: Scalar) -> tuple[str, str]:
    return str(value), type(value).__name__


def canon(value: Scalar) -> str:
    """Values that mean the same have the same: `5` and `5.0`, `Economy` and `economy`."""
    text = str(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return " ".join(text.split()).casefold()


def properties_of(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments that a JSON schema declares, those inside of others too, by path."""
    if isinstance(schema, dict):
        declared = schema.get("properties")
        for name, child in declared.items() if isinstance(declared, dict) else ():
            inside = f"{path}.{name}" if path else str(name)
            if isinstance(child, dict):
                yield inside, child
                yield from properties_of(child, inside)
        yield from properties_of(schema.get("items"), path)


def is_masked(value: Scalar) -> bool:
    """What stands for a secret teaches nothing."""
    return isinstance(value, str) and "<SECRET_" in value


_OF_PERSONS = frozenset(
    "name person user owner author sender recipient participant attendee customer contact address street".split()
)
_NAMES_ONE = re.compile(r"\d{4}|\.[a-z]{2,5}$|\d.*[A-Za-z].*\d.*[A-Za-z]|(?=.*\d)[A-Za-z\d]{8}")
"""Digits in a row, or mixed with letters: a number of one record, not of a class (`R4`, `LIGHT-2`)."""
_FIELD = re.compile(r"[A-Za-z_$#][\w$.:/\-]{0,80}(?: [a-z]{1,20}){0,2}")


def is_field_path(path: str) -> bool:
    """Could it be the name of a field? Records that are keyed by data have others."""
    return not path or _FIELD.fullmatch(path) is not None


def is_plain_name(name: str, is_word: Callable[[str], bool]) -> bool:
    """Is it a name of a few ordinary words, which says nothing of anybody?"""
    parts = words(name.rpartition(".")[2])
    return 0 < len(parts) <= MAX_NAME_WORDS and all(len(part) < 3 or is_word(part) for part in parts)


def is_id_name(path: str) -> bool:
    """Is a field of this name the id of a record?"""
    return words(path)[-1:] == ["id"] or path.rpartition(".")[2].lower() in ("uuid", "guid", "sku")


def may_be_shared(slot: SlotName, value: Scalar) -> bool:
    """Values that name somebody, or one record, are never public, however many tasks have them. A class (`R4`) is, and
    so is a day."""
    if not isinstance(value, str):
        return not is_id_name(slot[1])
    if next(find_personal(value), None) or without_instructions(value) != value:
        return False
    named = words(slot[1])
    if is_id_name(slot[1]) and any(map(str.isdecimal, value)):
        return False
    if " " not in value and _NAMES_ONE.search(value) and not _DAY.match(value):
        return False
    return not (value[:1].isupper() and not value.isupper() and not _OF_PERSONS.isdisjoint(named))


_DAY = re.compile(r"\d{4}-\d\d(?!\d)|\d{1,2}[./]\d{1,2}[./]\d{2,4}(?!\d)|\d\d?:\d\d")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[\d@]\S*|\b[A-Z]\w+")


def error_form(message: str) -> str:
    """An error without what changes from call to call."""
    return " ".join(_QUOTED.sub("#", message[:300]).split())


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")
_LOWER = re.compile(r"(?<![\w.@/'’-])[a-z]{2,}(?![\w@/-]|\.\w)")
_TOKEN = re.compile(r"\w+(?:['’./@:_-]\w+)*")
_WORDS = re.compile(r"\w+")
_PIECE = re.compile(r"\w+(?:['’-]\w+)*")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*")
_SAME_AGAIN = re.compile(r"(<[A-Z]+>)(?:[ ,]+\1)+")


@lru_cache(maxsize=4096)
def sentences_of(text: str, is_word: Callable[[str], bool]) -> tuple[str, ...]:
    """The sentences of a text, each as its words in lower case; one that is no ordinary word is `#`."""
    found = []
    for sentence in _SENTENCE_END.split(text[:MAX_PROSE_CHARS]):
        pieces = _PIECE.findall(sentence.lower())
        if len(pieces) <= MAX_SENTENCE_WORDS:
            known = [piece if is_word(piece) else "#" for piece in pieces]
            if len(known) - known.count("#") >= MIN_SENTENCE_WORDS:
                found.append(" ".join(known))
    return tuple(found)


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \"'(*‹“")
    return not before or before[-1] in ".!?:\n"
