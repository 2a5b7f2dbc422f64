"""Lines beside a packet that point at what decides: hints of its own runs and of other tasks, and remarks.

Across tasks: one task shows that a credit note of <AMOUNT_1> needed a hold; only many tasks show that the threshold is
500. If two tasks of a kind needed opposite things, what decides is in what they do not have in common, so each packet
says what was otherwise in the task most like it.

Beside the nearest passing run: steps are aligned over all runs, so a failing run stands there beside whatever run came
first. Which of its writes is wrong shows best beside the passing run that it is most like.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from contramem.build.model.choices import compare_choices, compare_numbers
from contramem.build.model.step_text import PLACEHOLDER, flatten, value_text
from contramem.build.rules.across import find_shared_lessons
from contramem.build.rules.mine import mine
from contramem.contrast.clock import durations_in
from contramem.contrast.conventions import SharedValue
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.quotation import OPENING, quote_words, shorten_quotations
from contramem.contrast.signal import Signal
from contramem.contrast.signals import ALIKE
from contramem.contrast.step import Step, is_command
from contramem.guards.guard import Guard, guards_of
from contramem.guards.packets import GuardReplay, replay
from contramem.guards.values import take_number, write_number
from contramem.retrieve.tokens import tokenize
from contramem.study.atoms import find_boundary

MAX_SHARED, MAX_SIGNALS, MAX_GUARDS, FEW_HINTS = 3, 4, 3, 2
MAX_CITES = 3
"""Of one signal: enough to find its place among the steps."""


def short_names(packet: Packet) -> Callable[[str], str]:
    """Takes the app off the names of functions where there is only one: steps and guards show them in full."""
    called = sorted(filter(None, packet.called))
    apps = {function.partition(".")[0] for function in called}
    if len(apps) != 1:
        return lambda text: text
    full = re.compile("|".join(rf"\b{re.escape(function)}\b" for function in reversed(called)))
    return lambda text: full.sub(lambda found: found[0].partition(".")[2], text)


def hint_lines(packet: Packet, across: AcrossHints, *, few: bool) -> Iterator[str]:
    """The hints about a packet, one a line; with `few`, only the clearest."""
    shorten_names = short_names(packet)
    if opposite := across.opposites.get(packet.task_key):
        yield f"  {shorten_names(opposite)}"
    for hint in [hint for hint in across.shared if hint.concerns(packet)][:MAX_SHARED]:
        yield f"  across tasks: {hint}"
    signals = _drop_told(_drop_repeated(packet.signals), packet)
    for signal in signals[: FEW_HINTS if few else MAX_SIGNALS]:
        cites = " ".join(f"{cite.run}#{cite.position}" for cite in signal.cites[:MAX_CITES])
        statement = shorten_names(shorten_quotations(flatten(signal.statement)))
        yield f"  signal ({signal.axis}): {statement}{f' [{cites}]' if cites else ''}"
    guards = mine(packet) if packet.is_contrastive else []
    for mined in guards[: FEW_HINTS if few else MAX_GUARDS]:
        yield f"  guard: {mined.guard} ({_replay_in_words(mined)})"


def _drop_told(signals: Sequence[Signal], packet: Packet) -> list[Signal]:
    """Drop signals that decide nothing or that the comparison with the nearest passing run states, also where they
    come back as what all failing runs have in common."""
    told = _told_by_nearest(packet)
    dropped = {
        (_evidence(signal), kind)
        for signal in packet.signals
        if not told.isdisjoint(_subjects(signal)) or _is_detour(signal, packet)
        for kind in (signal.kind, ALIKE)
    }
    return [signal for signal in signals if (_evidence(signal), signal.kind) not in dropped]


def _is_detour(signal: Signal, packet: Packet) -> bool:
    """Whether failing runs only looked something up before they did the same, or the passing run's call had failed."""
    if signal.kind != "first divergence":
        return False
    steps = {(run.letter, step.position): step for run in packet.runs for step in run.actions}
    if any(steps[cite].error for cite in signal.cites if cite.run in signal.passing and cite in steps):
        return True
    looked = [steps[cite].effect == "read" for cite in signal.cites if cite.run in signal.failing and cite in steps]
    failing = [run for run in packet.failing if run.letter in signal.failing]
    return (
        len(signal.functions) > 1
        and all(looked)
        and all(any(step.function == signal.functions[0] for step in run.actions) for run in failing)
    )


def _drop_repeated(signals: Sequence[Signal]) -> list[Signal]:
    """Drop signals that another one repeats ("All 3 failing runs alike. ...") or states more precisely: a missing write
    instead of a call of passing runs, a differing argument instead of a divergence."""
    alike = {_evidence(signal) for signal in signals if signal.kind == ALIKE}
    sharper = {(signal.functions, kind) for signal in signals for kind in _SHARPER.get(signal.kind, ())}
    of_one_side = {name for signal in signals if signal.kind in _CALLED for name in signal.functions}
    return [
        signal
        for signal in signals
        if (signal.functions, signal.kind) not in sharper
        and not (signal.kind == "first divergence" and not of_one_side.isdisjoint(signal.functions))
        and (signal.kind == ALIKE or _evidence(signal) not in alike)
    ]


def _evidence(signal: Signal) -> tuple[object, ...]:
    return signal.functions, signal.passing, signal.failing, signal.cites, signal.strength


def _told_by_nearest(packet: Packet) -> set[tuple[str, str]]:
    """Kinds of signals, with a function, that the comparison with the nearest passing run says already."""
    pairs = pair_with_nearest(packet, passes_without_a_write(packet))
    return {
        (kind, difference.function)
        for _, _, differences in pairs
        for difference in differences
        for kind in (_ABOUT_ARGUMENTS if difference.argument else _ABOUT_WRITES)
    }


def _subjects(signal: Signal) -> set[tuple[str, str]]:
    return {(signal.kind, function) for function in signal.functions}


_ABOUT_WRITES = ("missing write", "extra write", "first divergence")
_ABOUT_ARGUMENTS = ("differing argument", "first divergence")


_CALLED = ("calls of passing runs", "calls of failing runs")
_OF_ONE_SIDE = (*_CALLED, "first divergence")
_SHARPER = {"missing write": _OF_ONE_SIDE, "extra write": _OF_ONE_SIDE, "differing argument": ("first divergence",)}
"""By kind of signal: the kinds it makes redundant for the same functions."""


def _replay_in_words(replay: GuardReplay) -> str:
    parts = [("kept by passing", replay.held), ("broken by failing", replay.broken)]
    if replay.contradicted:
        parts.append(("broken by passing", replay.contradicted))
    return "; ".join(f"{how} {' '.join(runs)}" for how, runs in parts)


# What separates runs across tasks

MAX_CONTRADICTED = 0.25
"""The share of passing runs below which a hint may be broken, as in mining."""


class SharedHint(NamedTuple):
    """A guard that explains outcomes across tasks."""

    guard: Guard
    held: int
    """Passing runs that keep it."""
    broken: int
    """Failing runs that break it."""
    contradicted: int
    """Passing runs that break it."""

    def __str__(self) -> str:
        against = f", broken by {self.contradicted} passing" if self.contradicted else ""
        return f"{self.guard} (kept by {self.held} passing runs, broken by {self.broken} failing{against})"

    @property
    def decides(self) -> bool:
        """Whether few of the passing runs that it applies to break it."""
        return self.contradicted < MAX_CONTRADICTED * (self.held + self.contradicted)

    def concerns(self, packet: Packet) -> bool:
        """Whether runs of this task call all functions of the guard."""
        called = {step.function for run in packet.runs for step in run.actions if step.function}
        return called.issuperset(self.guard.functions)


class AcrossHints(NamedTuple):
    """What the other tasks of an ability say about one."""

    shared: Sequence[SharedHint] = ()
    opposites: Mapping[str, str] = MappingProxyType({})
    """By task key: a line about a task of the same kind in which the opposite was right."""

    @classmethod
    def of(cls, packets: Sequence[Packet]) -> AcrossHints:
        """Of the tasks of one ability, taken together."""
        return cls(find_shared_hints(packets), find_opposites(packets))


NO_HINTS = AcrossHints()


def find_shared_hints(packets: Sequence[Packet]) -> list[SharedHint]:
    """Of the tasks of one ability, taken together."""
    guards = [guard for shared in find_shared_lessons(packets) for guard in guards_of(shared.lesson.text.guards)]
    counted = (_count_runs(guard, packets) for guard in dict.fromkeys(guards))
    return [hint for hint in counted if hint.decides]


def _count_runs(guard: Guard, packets: Sequence[Packet]) -> SharedHint:
    replayed = [replay(guard, packet) for packet in packets]
    sides = zip(*((len(each.held), len(each.broken), len(each.contradicted)) for each in replayed), strict=True)
    held, broken, contradicted = map(sum, sides)
    return SharedHint(guard, held, broken, contradicted)


# Tasks of one kind in which opposite actions were right

MIN_WORDS_SHARED, MIN_WORDS_BESIDE_WRITE = 0.3, 0.15
"""Of two requests of one kind: by their words alone, and where a write that was right is common to both."""
MAX_FIELDS = 3
MAX_TASK_CHARS = 160
MIN_TASKS_APART = 3
"""On each side of a boundary between numbers, before it is named."""
_NUMBERED = re.compile(r"_\d+(?=>)")
_DATE = re.compile(r"\d{4}-\d{2}")

Fields = dict[tuple[str, str], frozenset[str]]
"""By function and field of a result: the readable values that it had."""


class _Profile(NamedTuple):
    """What was right in a task, and what it could depend on."""

    packet: Packet
    needed: frozenset[str]
    """Writes that every passing run makes and some failing run does not."""
    forbidden: frozenset[str]
    """Writes that some failing run makes and no passing run does."""
    right: frozenset[str]
    """Writes that every passing run makes."""
    words: frozenset[str]
    fields: Fields
    numbers: dict[str, float]
    """What a passing run gave its writes, by function and argument."""


def find_opposites(packets: Iterable[Packet]) -> dict[str, str]:
    """By task key: a line about the task of the same kind in which the opposite was right. Most tasks have none."""
    profiles = [_profile(packet) for packet in packets if packet.is_contrastive]
    by_write = defaultdict[str, list[_Profile]](list)
    for profile in profiles:
        for function in profile.needed | profile.forbidden:
            by_write[function].append(profile)
    lines = ((profile.packet.task_key, _line(profile, by_write)) for profile in profiles)
    return {key: line for key, line in lines if line}


def _profile(packet: Packet) -> _Profile:
    lucky = passes_without_a_write(packet)
    examples = [run for run in packet.passing if run.letter not in lucky]
    passing = [_functions(run) for run in examples]
    failing = [_functions(run) for run in packet.failing]
    right, tried = frozenset.intersection(*passing), frozenset.union(*passing)
    return _Profile(
        packet,
        needed=frozenset(function for function in right if any(function not in made for made in failing)),
        forbidden=frozenset.union(*failing) - tried,
        right=right,
        words=frozenset(tokenize(PLACEHOLDER.sub(" ", packet.task))),
        fields=_readable_fields(examples),
        numbers=_numbers_written(packet, examples[0]),
    )


def _functions(run: PacketRun) -> frozenset[str]:
    return frozenset(step.function for step in writes_of(run))


def _readable_fields(runs: Sequence[PacketRun]) -> Fields:
    """Words of the interface that results had; dates, texts and placeholders are particular to a task."""
    values = defaultdict[tuple[str, str], set[str]](set)
    for step in (step for run in runs for step in run.actions if step.effect == "read"):
        for name, value in (field for item in step.contents for field in item):
            if name and not PLACEHOLDER.search(value) and not _DATE.match(value) and not value.startswith(OPENING):
                values[step.function, name].add(value)
    return {slot: frozenset(slot_values) for slot, slot_values in values.items()}


def _numbers_written(packet: Packet, run: PacketRun) -> dict[str, float]:
    recorded = {event.position: event for event in packet.recorded[run.letter].events}
    return {
        f"{step.function.rpartition('.')[2]}.{name}": number
        for step in writes_of(run)
        for name, value in recorded[step.position].arguments.items()
        if (number := take_number(value)) is not None
    }


def _line(own: _Profile, by_write: Mapping[str, Sequence[_Profile]]) -> str:
    """About the other task that has fewest readable fields apart from this one's, but at least one where possible."""
    pairs = [
        (function, other)
        for function in sorted(own.needed | own.forbidden)
        for other in by_write[function]
        if function in (other.forbidden if function in own.needed else other.needed) and _is_one_kind(own, other)
    ]
    if not pairs:
        return ""
    function, other = min(pairs, key=lambda pair: _distance(own, pair[1]))
    there = "was wrong" if function in own.needed else "was needed"
    boundaries = _find_boundaries(function, by_write[function])
    numbers = [boundaries.get(name) or difference for name, difference in _numbers_apart(own, other).items()]
    apart = "; ".join([*_fields_apart(own.fields, other.fields), *numbers][:MAX_FIELDS])
    task = quote_words(_NUMBERED.sub("", other.packet.task)[:MAX_TASK_CHARS])
    return f"beside a task of this kind where {function} {there}, {task}{f': {apart}' if apart else ''}"


def _is_one_kind(own: _Profile, other: _Profile) -> bool:
    words = own.words | other.words
    least = MIN_WORDS_BESIDE_WRITE if own.right & other.right else MIN_WORDS_SHARED
    return bool(words) and len(own.words & other.words) >= least * len(words)


def _distance(own: _Profile, other: _Profile) -> tuple[bool, int, int, str]:
    apart = len(list(_fields_apart(own.fields, other.fields)))
    return not apart, apart, -len(own.words & other.words), other.packet.task_key


def _fields_apart(here: Fields, there: Fields) -> Iterator[str]:
    for (function, name), values in here.items():
        others = there.get((function, name), frozenset())
        field = f"{function.rpartition('.')[2]}.{name}"
        if others and values.isdisjoint(others):
            yield f"{field} {_join(others)} there, {_join(values)} here"
        elif others and values > others:
            yield f"{field} {_join(values - others)} only here"
        elif values < others:
            yield f"{field} {_join(others - values)} only there"


def _numbers_apart(own: _Profile, other: _Profile) -> dict[str, str]:
    return {
        name: f"{name} {'larger' if number > other.numbers[name] else 'smaller'} here"
        for name, number in own.numbers.items()
        if name in other.numbers and number != other.numbers[name]
    }


def _find_boundaries(function: str, profiles: Sequence[_Profile]) -> dict[str, str]:
    """By number that other writes were given: the boundary between tasks that need this write and tasks that forbid it.

    Whatever their words: that they make the same other write is what they have in common."""
    found = {}
    for name in {name for profile in profiles for name in profile.numbers}:
        yes = [each.numbers[name] for each in profiles if name in each.numbers and function in each.needed]
        no = [each.numbers[name] for each in profiles if name in each.numbers and function in each.forbidden]
        if min(len(yes), len(no)) < MIN_TASKS_APART:
            continue
        if max(no) < min(yes):
            side, boundary = "above", find_boundary(max(no), min(yes))
        elif max(yes) < min(no):
            side, boundary = "up to", find_boundary(max(yes), min(no))
        else:
            continue
        found[name] = (
            f"{name} {side} {write_number(boundary)} in all {len(yes)} tasks that need it, "
            f"in none of {len(no)} where it is wrong"
        )
    return found


def _join(values: Iterable[str]) -> str:
    return "/".join(sorted(values))


# What a failing run wrote beside the nearest passing run

MAX_LINES, MAX_DIFFERENCES = 3, 4


class WriteDifference(NamedTuple):
    """One thing in which the writes of two runs differ."""

    function: str
    argument: str
    """Empty: the call itself is missing or too much."""
    text: str


def compare_writes(packet: Packet, lucky: set[str]) -> Iterator[str]:
    """A line for failing runs that differ in the same way from the passing run nearest to them. `lucky` are passing
    runs that are no example."""
    groups = defaultdict[tuple[str, str], list[str]](list)
    for run, nearest, differences in pair_with_nearest(packet, lucky):
        if differences:
            text = "; ".join(difference.text for difference in differences[:MAX_DIFFERENCES])
            groups[nearest.letter, text].append(run.letter)
    for (nearest_letter, text), letters in list(groups.items())[:MAX_LINES]:
        yield f"writes of {' '.join(letters)} beside {nearest_letter}, the nearest passing: {text}"


def pair_with_nearest(packet: Packet, lucky: set[str]) -> Iterator[tuple[PacketRun, PacketRun, list[WriteDifference]]]:
    """Each failing run, the passing run that is most like it, and how their writes differ."""
    passing = [run for run in packet.passing if run.letter not in lucky]
    if not passing:
        return
    for run in packet.failing:
        nearest = max(passing, key=lambda other: _likeness(writes_of(run), writes_of(other)))
        yield run, nearest, list(_differences(writes_of(run), writes_of(nearest)))


def writes_of(run: PacketRun) -> list[Step]:
    """The calls that changed something."""
    return [step for step in run.actions if step.effect == "write" and not step.error and not step.speaks]


def _likeness(writes: Sequence[Step], others: Sequence[Step]) -> tuple[int, int, int]:
    """Equal writes count most, then arguments that are equal, then how many are missing or too much."""
    equal = sum(any(_is_same(step, other) for other in others) for step in writes)
    arguments = sum(max((_common(step, other) for other in others), default=0) for step in writes)
    return equal, arguments, -abs(len(writes) - len(others))


def _is_same(step: Step, other: Step) -> bool:
    return step.function == other.function and step.arguments == other.arguments


def _common(step: Step, other: Step) -> int:
    if step.function != other.function:
        return 0
    equal = [name for name, value in step.arguments.items() if other.arguments.get(name) == value]
    return 1 + len(equal)


def _differences(writes: Sequence[Step], others: Sequence[Step]) -> Iterator[WriteDifference]:
    left = [step for step in writes if not any(_is_same(step, other) for other in others)]
    for other in others:
        if any(_is_same(step, other) for step in writes):
            continue
        like = max(
            (step for step in left if step.function == other.function),
            default=None,
            key=lambda step: _common(step, other),
        )
        if like is None:
            yield WriteDifference(other.function, "", f"no {_short(other)}")
        else:
            left.remove(like)
            yield from _arguments_apart(like, other)
    yield from (WriteDifference(step.function, "", f"{_short(step)} too much") for step in left)


def _arguments_apart(step: Step, other: Step) -> Iterator[WriteDifference]:
    """Texts are told apart elsewhere: their placeholders say nothing."""
    for name in dict.fromkeys((*other.arguments, *step.arguments)):
        given, right = step.arguments.get(name), other.arguments.get(name)
        if given == right or (name in step.prose and name in other.prose):
            continue
        where = f"{_short(step)}.{name}"
        if name not in step.arguments:
            yield WriteDifference(step.function, name, f"no {where}")
        elif name not in other.arguments:
            yield WriteDifference(step.function, name, f"{where} given")
        else:
            yield WriteDifference(step.function, name, f"{where}={value_text(given)}, not {value_text(right)}")


def _short(step: Step) -> str:
    """The function without its app: the steps name it whole."""
    return step.function.rpartition(".")[2]


# Remarks: lines after the steps that point out differences between the runs

MAX_TEXTS = 2
"""How many arguments are shown with their texts."""


def remarks(packet: Packet) -> Iterator[str]:
    """All remarks about a packet."""
    yield from compare_writes(packet, passes_without_a_write(packet))
    yield from compare_forms(packet)
    yield from compare_texts(packet)
    yield from compare_counts(packet)
    yield from compare_choices(packet)
    yield from compare_numbers(packet)
    yield from find_same_calls(packet)
    yield from list_conventions(packet)
    yield from name_durations(packet)


def passes_without_a_write(packet: Packet) -> set[str]:
    """Passing runs that changed nothing although another passing run did: they may be lucky and no good example."""
    idle = {run.letter for run in packet.passing if not writes_of(run)}
    return idle if len(idle) < len(packet.passing) else set()


def _changes(step: Step) -> bool:
    return step.effect == "write" and not step.error and not step.speaks


def compare_forms(packet: Packet) -> Iterator[str]:
    """Arguments that passing and failing runs write in different forms: all failing runs, or some of them where every
    passing run writes a code of the same form."""
    shapes: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for run in (*packet.passing, *packet.failing):
        for step in (step for step in run.actions if step.function and not step.error):
            for name, shape in step.shapes.items():
                # An integer of more digits is a larger number, and not another form.
                written = "9" if step.forms.get(name) == "integer" else _form_of_words(shape)
                shapes.setdefault((step.function, name), {}).setdefault(run.letter, {})[written] = None
    passed = {run.letter for run in packet.passing}
    for (function, name), by_run in shapes.items():
        right = {shape: None for letter, own in by_run.items() if letter in passed for shape in own}
        failing = {letter: own for letter, own in by_run.items() if letter not in passed}
        others = [letter for letter, own in failing.items() if not right.keys() & own.keys()]
        wrong = dict.fromkeys(shape for letter in others for shape in failing[letter])
        if not right or not wrong or "" in (*right, *wrong):
            continue
        if len(others) == len(failing) or (len(right) == 1 and _is_code(next(iter(right)))):
            whose = "failing ones" if len(others) == len(failing) else " ".join(others)
            yield f"form of {function}.{name}: {' or '.join(right)} in passing runs, {' or '.join(wrong)} in {whose}"


def _form_of_words(shape: str) -> str:
    """The shape of several words with each kind of word once: a longer title has no other form."""
    return " ".join(dict.fromkeys(shape.split())) if set(shape) <= set("Aa ") else shape


def _is_code(shape: str) -> bool:
    return "9" in shape and not set(shape) <= set("9.,-")


def compare_counts(packet: Packet) -> Iterator[str]:
    """Writes that all passing runs make equally often and some failing runs make more often."""
    counts = {run.letter: Counter(step.function for step in run.actions if _changes(step)) for run in packet.runs}
    for function in sorted({function for counted in counts.values() for function in counted}):
        often = {counts[run.letter][function] for run in packet.passing}
        more = [run.letter for run in packet.failing if often and counts[run.letter][function] > max(often)]
        if len(often) == 1 and min(often) and more:
            yield f"times: {function} {min(often)} in every passing run, more in {' '.join(more)}"


def find_same_calls(packet: Packet) -> Iterator[str]:
    """Runs with the same visible calls and different outcomes."""
    groups = defaultdict[bytes, list[PacketRun]](list)
    for run in (*packet.passing, *packet.failing):
        calls = [(step.function, step.arguments) for step in run.actions if step.function]
        groups[msgspec.json.encode(calls, order="deterministic")].append(run)
    for runs in groups.values():
        letters = {outcome: " ".join(run.letter for run in runs if run.passed is outcome) for outcome in (True, False)}
        if all(letters.values()):
            yield f"same visible calls: {letters[True]} passed, {letters[False]} failed; calls do not tell them apart"


def list_conventions(packet: Packet) -> Iterator[str]:
    """One line for all: what is the same in passing runs of several tasks though no request and no result says it."""
    if conventions := [shared for shared in packet.conventions if _is_telling(shared, packet)]:
        told = "; ".join(
            f"{shared.function}.{shared.argument}={shared.value} ({shared.tasks} tasks, {shared.sources} sources)"
            for shared in conventions
        )
        yield f"convention, shared by passing runs and shown by nothing: {told}"


def _is_telling(shared: SharedValue, packet: Packet) -> bool:
    """Whether passing and failing runs differ in it, or passing runs write nothing else there.

    Words to choose from, such as `all` and `free`, are shared as well, but are no custom.
    """
    passing, failing = (_values_given(shared, runs) for runs in (packet.passing, packet.failing))
    own = {str(shared.value)}
    if all(values == own for values in passing) and not all(own <= values for values in failing):
        return True
    steps = (step for run in packet.runs for step in run.actions if step.function == shared.function)
    rivals = [other for other in packet.conventions if other[:2] == shared[:2] and other != shared]
    return not rivals and any(step.effect == "write" for step in steps)


def _values_given(shared: SharedValue, runs: Sequence[PacketRun]) -> list[set[str]]:
    """For each run that calls the function: the values that it gives the argument."""
    by_run = ([step for step in run.actions if step.function == shared.function] for run in runs)
    return [{str(step.arguments.get(shared.argument)) for step in steps} for steps in by_run if steps]


def compare_texts(packet: Packet) -> Iterator[str]:
    """Texts that agents wrote, if no passing and no failing run wrote the same."""
    written: dict[tuple[str, str], tuple[dict[str, str], dict[str, str]]] = {}
    for side, runs in enumerate((packet.passing, packet.failing)):
        for run in runs:
            for slot, name, text in _texts_written(run):
                written.setdefault(slot, ({}, {}))[side].setdefault(name, text)
    decisive = [
        (slot, passing, failing)
        for slot, (passing, failing) in written.items()
        if passing and failing and not passing.keys() & failing.keys()
    ]
    for (function, argument), passing, failing in decisive[:MAX_TEXTS]:
        right, wrong = next(iter(passing.values())), next(iter(failing.values()))
        if right != wrong:
            compared = f"{quote_words(right)} in a passing run, {quote_words(wrong)} in a failing one"
            yield f"text of {function}.{argument}: {compared}"


def _texts_written(run: PacketRun) -> Iterator[tuple[tuple[str, str], str, str]]:
    """(function and argument, placeholder, masked text) of each text that the run wrote."""
    for step in run.actions:
        if not step.error:
            for argument, text in step.prose.items():
                if not is_command(argument):  # the steps show it
                    yield (step.function, argument), str(step.arguments[argument]), text


def name_durations(packet: Packet) -> Iterator[str]:
    """The durations that the request names, in seconds like the times of the steps."""
    if not any(step.at_s is not None for run in packet.runs for step in run.steps):
        return
    if named := [f"{duration.text} is {duration.seconds:g} s" for duration in durations_in(packet.task)]:
        yield f"times that the request names: {', '.join(named)}"
