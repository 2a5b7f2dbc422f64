"""What has to come first: calls refused after another call on the same thing, and calls that need one before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contramem.build.functions.blame import asks_for, convictions, stems
from contramem.build.functions.calls import Calls, fail_more, failures, is_guessed, is_more, runs_of, tasks
from contramem.build.functions.errors import quote_complaint
from contramem.build.functions.words import code, share_of
from contramem.contrast.observation import MOVES, Observation
from contramem.traces.effects import words

MIN_REFUSALS, MIN_RUNS = 3, 2
"""Fewer refusals, or refusals in a single run, are not a rule."""
MIN_REFUSED = 0.75
"""A function that is refused less often after another one is not blocked by it."""
MAX_NEEDED = 0.34
"""A function that fails more often even after what it needs, needs something else."""
PLAIN_REFUSED, PLAIN_NEEDED = 0.9, 0.1
"""The same two limits if no complaint mentions the function and its name does not say that it sets something up."""
MAX_ORDERS = 3

_EVERYWHERE = frozenset("user acco item data name file".split())
"""Stems of words that complaints use about anything."""
_SETS_UP = MOVES | frozenset(
    "login log sign authenticate auth connect activate start enable unlock mount init initialize".split()
)
"""Verbs of functions that enable others."""


def order_rules(calls: Calls) -> Iterator[str]:
    """The order in which this function and others can be called, as far as refusals prove it."""
    yield from _find_closing_calls(calls)
    yield from _closes_another(calls)
    yield from _needs(calls)


def _is_rule(refused: Sequence[Observation], of: int) -> bool:
    enough = len(refused) >= MIN_REFUSALS and runs_of(refused) >= MIN_RUNS
    return enough and len(refused) >= of * MIN_REFUSED


def _calls_before(call: Observation, argument: str) -> frozenset[str]:
    return frozenset(tried.function for tried in call.before.get(argument, ()) if tried.worked)


def _find_closing_calls(calls: Calls) -> Iterator[str]:
    """This function is refused once another one (or itself) has worked on the same thing."""
    pairs = sorted({(name, f) for call in calls.failed for name in call.before for f in _calls_before(call, name)})
    closers: dict[str, tuple[str, list[Observation], list[Observation]]] = {}
    for argument, other in pairs:
        given = [call for call in calls.all if argument in call.arguments]
        after = [call for call in given if other in _calls_before(call, argument)]
        without = [call for call in given if other not in _calls_before(call, argument)]
        refused = [call for call in after if call.error]
        if not _is_rule(refused, len(after)) or not fail_more(after, without, tests=len(pairs)):
            continue
        # Two arguments may refer to the same case (an order and the card that paid for it): use the clearer one.
        if other not in closers or _share(after) > _share(closers[other][1]):
            closers[other] = (argument, after, without)
    for other in sorted(closers, key=lambda name: (-failures(closers[name][1]), name))[:MAX_ORDERS]:
        yield _describe_closing(calls, other, *closers[other])


def _share(calls: Sequence[Observation]) -> float:
    return failures(calls) / len(calls)


def _describe_closing(
    calls: Calls, other: str, argument: str, after: Sequence[Observation], without: Sequence[Observation]
) -> str:
    refused = share_of(failures(after), len(after)) + quote_complaint([call for call in after if call.error], calls)
    against = f"against {failures(without)} of {len(without)} otherwise"
    if other == calls.function:
        return (
            f"It works once per {code(argument)}: after one that worked, another was refused in {refused}, {against}."
        )
    text = f"After {calls.refer_to(other)} on the same {code(argument)} it was refused in {refused}, {against}"
    turned = [call for call in calls.worked if _works_later(call, argument, other) is not None]
    second = calls.refer_to(other)
    fine = sum(_works_later(call, argument, other) is True for call in turned)
    if fine >= MIN_REFUSALS and fine >= len(turned) * MIN_REFUSED:
        text += f"; the other way round, {second} worked in {fine} of {len(turned)}: call this one first"
    elif len(turned) >= MIN_RUNS and not fine:
        text += f"; the other way round, {second} was refused in all {len(turned)}: choose one of the two"
    return text + "."


def _works_later(call: Observation, argument: str, other: str) -> bool | None:
    return next((tried.worked for tried in call.later.get(argument, ()) if tried.function == other), None)


def _closes_another(calls: Calls) -> Iterator[str]:
    """Once this function has worked on a thing, another function that had worked before is refused."""
    if calls.effect == "read":
        return
    pairs = sorted(
        {(a, t.function) for call in calls.worked for a in call.later for t in call.later[a] if not t.worked}
    )
    closings: dict[str, tuple[str, int, int, int, int]] = {}
    for argument, other in pairs:
        if other == calls.function:
            continue
        first = [call for call in calls.worked if calls.function not in _calls_before(call, argument)]
        after = [(call, _works_later(call, argument, other)) for call in first]
        refused = [call for call, worked in after if worked is False]
        tried = sum(worked is not None for _, worked in after)
        earlier = [t.worked for call in first for t in call.before.get(argument, ()) if t.function == other]
        if not _is_rule(refused, tried) or not is_more(
            len(refused), tried, earlier.count(False), len(earlier), len(pairs)
        ):
            continue
        if other not in closings or len(refused) / tried > closings[other][1] / closings[other][2]:
            closings[other] = (argument, len(refused), tried, earlier.count(True), len(earlier))
    for other in sorted(closings, key=lambda name: (-closings[name][1], name))[:MAX_ORDERS]:
        argument, refused_count, tried, fine, before = closings[other]
        count = share_of(refused_count, tried)
        text = f"After it, {calls.refer_to(other)} on the same {code(argument)} was refused in {count}"
        yield text + (f"; before it, it worked in {fine} of {before}: call that one first." if fine else ".")


def _needs(calls: Calls) -> Iterator[str]:
    """This function is refused in runs in which another one has not worked yet."""
    names = sorted(_find_done_before(calls) - {calls.function})
    # If the complaint mentions one of them, the others preceded it only by habit.
    meant = [name for name in names if _is_meant(name, calls)]
    made_up = [conviction.argument for conviction in convictions(calls)]
    gains: dict[str, int] = {}
    for other in meant or names:
        without, after = _split_at(calls.all, other)
        # A failure explained by a made-up value does not prove an order.
        open_without = [call for call in without if not any(is_guessed(call, name) for name in made_up)]
        plain = not meant and _SETS_UP.isdisjoint(words(other))
        if _is_needed(without, after, plain) and fail_more(open_without, after, tests=len(names)):
            gains[other] = failures(without) + len(after) - failures(after)
    best = min(gains, key=lambda name: (-gains[name], name), default=None)
    if best is not None:
        without, after = _split_at(calls.all, best)
        refused = [call for call in without if call.error]
        count = share_of(len(refused), len(without)) + quote_complaint(refused, calls)
        against = f"after it, in {failures(after)} of {len(after)}"
        first = calls.refer_to(best)
        yield f"Call {first} first: until it had worked in the run, this was refused in {count}, {against}."


def _split_at(calls: Sequence[Observation], other: str) -> tuple[list[Observation], list[Observation]]:
    """The calls before and after another function worked in their run."""
    after = [call for call in calls if other in call.earlier or other in call.looked]
    return [call for call in calls if other not in call.earlier and other not in call.looked], after


def _find_done_before(calls: Calls) -> set[str]:
    """What could have made calls work: anything with effects, and apparent reads if complaints ask for them."""
    acted = {name for call in calls.worked for name in call.earlier}
    looked = {name for call in calls.worked for name in call.looked}
    complaints = {failed.error for failed in calls.failed}
    return acted | {name for name in looked if any(asks_for(complaint, name) for complaint in complaints)}


def _is_needed(without: Sequence[Observation], after: Sequence[Observation], plain: bool) -> bool:
    refused = [call for call in without if call.error]
    if plain and (len(refused) < len(without) * PLAIN_REFUSED or tasks(refused) < MIN_RUNS):
        return False
    return _is_rule(refused, len(without)) and failures(after) <= len(after) * (PLAIN_NEEDED if plain else MAX_NEEDED)


def _is_meant(function: str, calls: Calls) -> bool:
    """Do most complaints mention what another function does? `doors must be locked` mentions `lockDoors`."""
    named = stems(function.partition(".")[2]) - stems(calls.name) - _EVERYWHERE
    speaking = sum(not named.isdisjoint(stems(call.error)) for call in calls.failed)
    return speaking * 2 >= len(calls.failed) > 0
