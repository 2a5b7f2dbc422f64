"""Value source: the values of an argument are read somewhere, instead of being made up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from contramem.bank.card import SkillDelta
from contramem.build.rules.phrases import code_name, short_name
from contramem.build.rules.rule import Contrast, GuardRule, Lesson, Words, illustrate, restate
from contramem.build.rules.steps import calls, find_guarded_calls, matches
from contramem.build.rules.value_origins import Slot, SlotOrigins, ValuePlaces, count_values, find_slots
from contramem.contrast.enabling import Enabling
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.step import Step
from contramem.guards.conditions import parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay, replay
from contramem.mining.fwords import join_list
from contramem.traces.effects import effect_of
from contramem.traces.trajectory import Effect

MAX_NAMED = 3
"""How many functions a card about a class of calls names as examples."""


@dataclass(frozen=True, kw_only=True)
class ValueSource(GuardRule):
    """The values of `argument` of `target` are found in `places`."""

    KIND = "value source"
    TEMPLATE = "known_value"
    SHARPNESS = 1.2

    target: str
    """A function, or a class of functions in guard syntax."""
    argument: str
    targets: tuple[str, ...]
    """Functions of the target that were seen to take the argument."""
    places: ValuePlaces
    shown_in: ValuePlaces
    """Where the values were found in the task that taught it."""
    is_copied: bool = False
    """Failing runs had looked there, and still made up another value."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        return (Guard("known_value", self.target, argument=self.argument, when=self.when),)

    # Mining

    @classmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        runs = (*packet.passing, *packet.failing)
        slots = find_slots(runs)
        for (function, argument), seen in slots.items():
            if seen.is_worth_a_guard:
                yield Guard("known_value", function, argument=argument)
        yield from _of_classes(runs, slots)

    @classmethod
    def is_cause(cls, replayed: GuardReplay, packet: Packet, enabled: Sequence[Enabling]) -> bool:
        """A made-up value is not why a call was refused if calls with a value that had been read are refused in the
        same way, or if something done next made exactly the same call work."""
        guard = replayed.guard
        refused = {
            (step.function, step.error)
            for run in (*packet.passing, *packet.failing)
            for step in find_guarded_calls(run, guard)
            if step.error and step.origins.get(guard.argument, NOWHERE) != NOWHERE
        }
        explained = {
            (enabling.function, enabling.error) for enabling in enabled if guard.argument not in enabling.arguments
        }
        innocent = refused | explained
        broken = [run for run in packet.failing if run.letter in replayed.broken]
        guilty = [
            run
            for run in broken
            if any(not s.error or (s.function, s.error) not in innocent for s in _guesses(run, guard))
        ]
        return 2 * len(guilty) > len(broken)

    @classmethod
    def yields_to(cls, guard: Guard, other: Guard) -> bool:
        """A rule about the app says more than one about the call."""
        wider = other.template == cls.TEMPLATE and not parse_pattern(other.function).function
        return wider and guard.argument == other.argument and bool(parse_pattern(guard.function).function)

    @classmethod
    def is_about(cls, guard: Guard, function: str) -> bool:
        """Does the guard say where a value that `function` takes comes from?"""
        pattern = parse_pattern(guard.function)
        if guard.template != cls.TEMPLATE:
            return False
        return guard.target == function or (not pattern.function and pattern.name == function.partition(".")[0])

    @classmethod
    def is_shown_by(cls, guard: Guard, enabling: Enabling) -> bool:
        return guard.argument in enabling.arguments and matches(parse_pattern(guard.function), enabling.worked)

    @classmethod
    def is_accepted_otherwise(cls, guard: Guard, packets: Sequence[Packet]) -> bool:
        """Do most calls with made-up values work? Then the tool does not ask for values that were read."""
        guesses = [
            step for packet in packets for run in (*packet.passing, *packet.failing) for step in _guesses(run, guard)
        ]
        return 2 * sum(not step.error for step in guesses) > len(guesses)

    @classmethod
    def is_refused_otherwise(cls, guard: Guard, packets: Sequence[Packet]) -> bool:
        """Do calls fail with made-up values in a way that they never do with values that had been read?"""
        guessed, read = set[tuple[str, str, str]](), set[tuple[str, str, str]]()
        for packet in packets:
            for run in (*packet.passing, *packet.failing):
                for step in find_guarded_calls(run, guard):
                    origin = step.origins.get(guard.argument)
                    if origin is not None:
                        (guessed if origin == NOWHERE else read).add(
                            (f"{packet.task_key} {run.letter}", step.function, step.error)
                        )
        answered = {(function, error) for _, function, error in read}
        refused = {run for run, function, error in guessed if error and (function, error) not in answered}
        worked = {run for run, _, error in read if not error}
        return min(len(refused), len(worked)) >= 2 and 2 * len(refused) > len({run for run, _, _ in guessed})

    @classmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> ValueSource | None:
        guard, counted = replayed.guard, count_values([packet], replayed.guard)
        if not counted.are_looked_up:
            return None  # "take it from the request" is not advice
        steps = (step for run in packet.runs for step in find_guarded_calls(run, guard))
        targets = tuple(sorted({step.function for step in steps if guard.argument in step.arguments}))
        return cls(
            target=guard.function,
            argument=guard.argument,
            targets=targets,
            places=counted.places,
            shown_in=counted.places,
            is_copied=_had_looked(packet, replayed, counted.places.functions),
            functions=tuple(dict.fromkeys([*guard.functions, *targets, *counted.places.functions])),
            contrast=Contrast(len(replayed.held), len(packet.passing), len(replayed.broken), len(packet.failing)),
        )

    @classmethod
    def find_flaw(cls, guard: Guard, packets: Sequence[Packet]) -> str:
        if count_values(packets, guard).are_mostly_looked_up:
            return ""
        return "Over all runs, its values have no one form, or stand in the request."

    @classmethod
    def asks_beforehand(cls, guard: Guard, function: str, by: Sequence[str], arguments: Sequence[str]) -> bool:
        return guard.argument in arguments and cls.is_about(guard, function)

    # One rule or two

    @classmethod
    def covers(cls, guard: Guard, other: Guard, packet: Packet) -> bool:
        """The rule about an app covers the rule about one call."""
        if guard.when or other.when or (other.template, other.argument) != (guard.template, guard.argument):
            return False
        function = parse_pattern(other.function).function
        return bool(function) and guard.function == _class_of(function, packet)

    def waits_for_more(self) -> bool:
        """One task for each of two calls is not yet a rule about all calls."""
        return bool(parse_pattern(self.target).function)

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """Both say where the values of one argument come from, for functions of one app: the rule about all such calls.

        None if they do not, or if the runs of the packet do not support the wider rule.
        """
        more = other.rule
        if not isinstance(more, ValueSource) or self.when or more.when:
            return None
        if self.argument != more.argument or self.target == more.target:
            return None
        functions = [name for rule in (self, more) if (name := parse_pattern(rule.target).function)]
        classes = {_class_of(name, packet) for name in functions}
        classes |= {rule.target for rule in (self, more) if not parse_pattern(rule.target).function}
        if len(classes) != 1 or "" in classes or set(self.places.functions).isdisjoint(more.places.functions):
            return None
        replayed = replay(Guard("known_value", classes.pop(), argument=self.argument), packet)
        rule = ValueSource.learn(replayed, packet) if replayed.supports else None
        if rule is None:
            return None
        good = next(run for run in packet.passing if run.letter in replayed.held)
        bad = next(run for run in packet.failing if run.letter in replayed.broken)
        text = illustrate(rule, packet, good, bad)
        rule = replace(rule, functions=tuple(dict.fromkeys([*rule.functions, *functions])))
        return Lesson(rule, restate(text, rule))

    def look_at(self, packets: Sequence[Packet]) -> ValueSource:
        """The rule with every place that passing runs took the values from, those of the task that taught it and is its
        example among them."""
        places = count_values(packets, self.guards[0]).places
        functions = tuple(dict.fromkeys([*places.functions, *self.shown_in.functions]))
        return replace(self, places=ValuePlaces(functions, places.told or self.shown_in.told))

    # Words

    def words(self) -> Words:
        who, argument = self._target_in_words(), f"`{self.argument}`"
        pattern = parse_pattern(self.target)
        verb = "changes" if pattern.kind == "writes" else "looks into"
        target = short_name(pattern.function) if pattern.function else f"whatever {verb} {pattern.name}"
        if self.is_copied:
            title = f"Copy {self.argument} for {target} exactly"
            rule = (
                f"Give {who} the {argument} exactly as {self.places} shows it: no other spelling, no placeholder, no "
            )
            rule += "guess."
        else:
            title = f"Look up {self.argument} before {target}"
            # A few runs do not show every place where such values can be read.
            where = ", for example in" if self.grade == "observed" else " in"
            rule = f"Give {who} only values of {argument} that you have read{where} {self.places}. If you have not "
            rule += f"seen it {'yet' if self.grade == 'observed' else 'there'}, look it up first; never guess."
        return Words(
            title=title,
            applies_when=f"You are about to {'call' if pattern.function else 'make'} {who} with {argument}.",
            solves=f"Made-up values of {argument}.",
            core_rule=rule,
            completion=(f"every {argument} given to {who} had appeared in {self.places}",),
            success_failure_contrast=f"In {self.contrast.kept} passing runs, {argument} came from {self.shown_in}; "
            f"{self.contrast.broke} failing runs gave a value that had not appeared anywhere.",
        )

    def _target_in_words(self) -> str:
        """The function, or the class with the functions that were seen."""
        pattern = parse_pattern(self.target)
        if pattern.function:
            return code_name(pattern.function)
        kind = "call that changes" if pattern.kind == "writes" else "call that looks into"
        examples = join_list([code_name(name) for name in self.targets[:MAX_NAMED]])
        return f"any {kind} {pattern.name} (such as {examples})" if examples else f"any {kind} {pattern.name}"


def _of_classes(runs: Sequence[PacketRun], slots: dict[Slot, SlotOrigins]) -> Iterator[Guard]:
    """One level up: if several functions of an app take the argument from the same place, it is a rule about the
    app."""
    effects = {step.function: step.effect for run in runs for step in calls(run)}
    alike = defaultdict[tuple[str, str, str], list[SlotOrigins]](list)
    for (function, argument), slot in slots.items():
        if effects[function] in ("read", "write"):
            alike[function.partition(".")[0], effects[function], argument].append(slot)
    for (app, effect, argument), group in alike.items():
        shared = set.intersection(*(slot.functions for slot in group))
        if len(group) > 1 and any(slot.guessed for slot in group) and shared:
            yield Guard("known_value", f"{effect}s({app})", argument=argument)


def _class_of(function: str, packet: Packet) -> str:
    """`reads(App)` or `writes(App)`; empty if the function's effect is not known."""
    effects: dict[str, Effect] = {step.function: step.effect for run in packet.runs for step in run.actions}
    effect = effects.get(function) or effect_of(short_name(function))
    return f"{effect}s({function.partition('.')[0]})" if effect in ("read", "write") else ""


def _guesses(run: PacketRun, guard: Guard) -> list[Step]:
    return [step for step in find_guarded_calls(run, guard) if step.origins.get(guard.argument) == NOWHERE]


def _had_looked(packet: Packet, replayed: GuardReplay, sources: Sequence[str]) -> bool:
    """Had most of the runs that made a value up previously called what passing runs read it from?"""
    wrong = [run for run in packet.failing if run.letter in replayed.broken]
    looked = [run for run in wrong if any(step.function in sources and not step.error for step in run.actions)]
    return 2 * len(looked) > len(wrong)
