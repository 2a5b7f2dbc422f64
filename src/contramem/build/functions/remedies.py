"""What followed an error of a function and helped: other arguments, another function first, or one instead."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contramem.build.functions.blame import asks_for
from contramem.build.functions.calls import Calls, Retry, is_guessed, leaves_out
from contramem.build.functions.errors import Complaint
from contramem.build.functions.words import code, is_identifying, join_list, share_of
from contramem.contrast.observation import MOVES, Observation
from contramem.traces.effects import effect_of, words

MAX_RECOVERIES = 2
MIN_FEEDS = 2
"""A use of a function's results that is rarer is not its purpose."""
MIN_CHANGED = 3
"""How many retries with another value must have worked before the value is said to have helped."""
MIN_HELPED = 0.5
"""What worked in a smaller share of the retries is no way out."""
MAIN_USE, MIN_SHARE = 0.5, 0.1


@dataclass(frozen=True)
class Remedy:
    """One thing that helped, and how often."""

    count: int
    text: str


def describe_mistake(complaint: Complaint, calls: Calls) -> str:
    """A mistake as a line of a card."""
    count = share_of(len(complaint.calls), len(calls.all))
    text = f'"{complaint.text}" in {count}' if complaint.text else f"An error in {count}"
    helped = [recovery.text for recovery in recoveries(complaint, calls)[:MAX_RECOVERIES]]
    helped = helped or _in_vain(_retries(complaint, calls))
    return f"{text}; {'; '.join(helped)}." if helped else f"{text.rstrip('.')}."


def recoveries(complaint: Complaint, calls: Calls) -> list[Remedy]:
    """Everything that helped after the complaint, most frequent first."""
    retries = _retries(complaint, calls)
    remedies = (
        *_by_changing([retry for retry in retries if retry.changed and _same_goal(retry)], complaint),
        *_after_another([retry for retry in retries if not retry.changed], calls),
        *_instead(complaint, calls),
    )
    return sorted(remedies, key=lambda recovery: (-recovery.count, recovery.text))


def _retries(complaint: Complaint, calls: Calls) -> list[Retry]:
    places = {(call.task_key, call.cite) for call in complaint.calls}
    return [retry for retry in calls.retries if (retry.first.task_key, retry.first.cite) in places]


def _same_goal(retry: Retry) -> bool:
    """Is the second call about the same thing? A write to another existing thing is a different task."""
    if retry.first.effect == "read":
        return True
    pointing = [n for n in retry.first.arguments if is_identifying(n, [retry.first.forms.get(n, "")])]
    moved = [name for name in pointing if name in retry.changed and not _was_wrong(retry.first, name)]
    return not moved or len(moved) < len(pointing)


def _was_wrong(call: Observation, name: str) -> bool:
    return is_guessed(call, name) or leaves_out(call, name)


def _by_changing(retries: Sequence[Retry], complaint: Complaint) -> Iterable[Remedy]:
    worked = [retry for retry in retries if not retry.then.error]
    if not worked:
        return
    together = Counter(_pick_blamed(retry.changed, complaint.text) for retry in worked)
    together = Counter({names: count for names, count in together.items() if _is_shown(names, count, complaint.text)})
    if not together:
        return
    names = min(together, key=lambda changed: (-together[changed], len(changed), sorted(changed)))
    tried = [retry for retry in retries if _pick_blamed(retry.changed, complaint.text) == names]
    if together[names] < len(tried) * MIN_HELPED:
        return
    named = join_list([code(name) for name in sorted(names)])
    count = share_of(together[names], len(tried), "retry")
    yield Remedy(together[names], f"{_name_change(names, tried)} {named} worked in {count}")


def _is_shown(names: frozenset[str], count: int, error: str) -> bool:
    """Two calls that differ from two refused ones in some argument prove nothing unless the complaint names it."""
    return count >= MIN_CHANGED or bool(_pick_spoken(names, error))


def _pick_blamed(changed: frozenset[str], error: str) -> frozenset[str]:
    """Of several arguments changed at once, those that the complaint is about."""
    return _pick_spoken(changed, error) or changed


def _pick_spoken(changed: frozenset[str], error: str) -> frozenset[str]:
    spoken = set(words(error)) | {word + "s" for word in words(error)}
    return frozenset(name for name in changed if spoken.issuperset(set(words(name)) - {"id", "ids"}))


def _name_change(names: frozenset[str], retries: Sequence[Retry]) -> str:
    if all(name not in retry.then.arguments for retry in retries for name in names):
        return "leaving out"
    if all(name not in retry.first.arguments for retry in retries for name in names):
        return "adding"
    return "changing"


def _after_another(retries: Sequence[Retry], calls: Calls) -> Iterable[Remedy]:
    after = Counter(function for retry in retries if not retry.then.error for function in retry.first.between)
    # A read cannot have helped an unchanged call, unless the complaint asked for it.
    asked = {name for name in after if any(asks_for(retry.first.error, name) for retry in retries)}
    acting = [n for n in after if effect_of(n) != "read" or n in asked or not MOVES.isdisjoint(words(n))]
    enabling = min(acting, key=lambda name: (-after[name], name), default=None)
    if enabling is not None:
        tried = sum(enabling in retry.first.between for retry in retries)
        count = share_of(after[enabling], tried, "retry")
        if after[enabling] < tried * MIN_HELPED:
            return
        yield Remedy(after[enabling], f"the same call worked after {calls.refer_to(enabling)} in {count}")


def _instead(complaint: Complaint, calls: Calls) -> Iterable[Remedy]:
    """Other functions that then worked and supply what this one is called for: the arguments that its results fill."""
    uses = Counter((use.function, use.argument) for call in calls.worked for use in call.feeds)
    for_what = {use for use in uses if uses[use] >= max(MIN_FEEDS, max(uses.values()) * MAIN_USE)}
    goals: dict[str, Counter[str]] = defaultdict(Counter)
    for use in (use for call in complaint.calls for use in call.rescued):
        if (use.function, use.argument) in for_what:
            goals[use.giver][use.argument] += 1
    for giver in sorted(goals):
        count = sum(giver in call.instead for call in complaint.calls)
        if goals[giver].total() >= MIN_FEEDS and count >= len(complaint.calls) * MIN_SHARE:
            argument = min(goals[giver], key=lambda name: (-goals[giver][name], name))
            share = f"{count} of {len(complaint.calls)}"
            yield Remedy(
                count, f"{calls.refer_to(giver)}, which also gives the {code(argument)}, then worked in {share}"
            )


def _in_vain(retries: Sequence[Retry]) -> list[str]:
    plain = [retry for retry in retries if not retry.changed and not retry.first.between]
    failed = sum(bool(retry.then.error) for retry in plain)
    return [f"repeating it unchanged failed again in {share_of(failed, len(plain), 'retry')}"] if failed > 1 else []
