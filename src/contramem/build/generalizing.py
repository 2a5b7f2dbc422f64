"""One level up: when rules about single calls are one rule about several, and what that rule says."""

from __future__ import annotations

from contramem.bank.card import SkillDelta
from contramem.build.phrases import bare, listed, plain, quoted
from contramem.build.wordings import worded
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.packet_replay import replay
from contramem.monitor.pattern import parse_pattern
from contramem.traces.effects import effect_of
from contramem.traces.trajectory import Effect

MAX_CALLS = 4
"""Named in one card. More preconditions of one call, or calls of one precondition, are for other cards."""


def covers(card: SkillDelta, delta: SkillDelta, packet: Packet) -> bool:
    """Does the card say of a class of calls what the delta says of one of them?"""
    wide, narrow = _lone(card, "known_value"), _lone(delta, "known_value")
    if wide is None or narrow is None or wide.argument != narrow.argument:
        return False
    pattern, function = parse_pattern(wide.function), parse_pattern(narrow.function).function
    return bool(function) and not pattern.function and str(pattern) == _class_of(function, packet)


def generalized(card: SkillDelta, delta: SkillDelta, packet: Packet) -> SkillDelta | None:
    """Both say of one argument where its values come from, for functions of one app: the rule about all such calls.

    None when they do not, or when the runs of the packet do not bear out the wider rule.
    """
    one, other = _lone(card, "known_value"), _lone(delta, "known_value")
    if one is None or other is None or one.argument != other.argument or one.function == other.function:
        return None
    functions = [name for guard in (one, other) if (name := parse_pattern(guard.function).function)]
    classes = {_class_of(name, packet) for name in functions}
    classes |= {guard.function for guard in (one, other) if not parse_pattern(guard.function).function}
    if len(classes) != 1 or "" in classes or not _sources(card, one) & _sources(delta, other):
        return None
    found = replay(Guard("known_value", classes.pop(), argument=one.argument), packet)
    text = worded(packet, found) if found.supports else None
    if text is None:
        return None
    return text.model_copy(update={"functions_used": tuple(dict.fromkeys([*text.functions_used, *functions]))})


def is_about_one_call(text: SkillDelta) -> bool:
    """Does every guard of the text name the function it is about, rather than a class?"""
    return all(parse_pattern(guard.function).function for guard in guards_of(text.guards))


def _class_of(function: str, packet: Packet) -> str:
    """`reads(App)` or `writes(App)`; empty when what the function does is not known."""
    effects: dict[str, Effect] = {step.function: step.effect for run in packet.runs for step in run.actions}
    effect = effects.get(function) or effect_of(plain(function))
    return f"{effect}s({function.partition('.')[0]})" if effect in ("read", "write") else ""


def _sources(text: SkillDelta, guard: Guard) -> set[str]:
    """The functions that the text names beside those that it guards."""
    prefix = f"known_value({guard.function}"
    assert any(written.startswith(prefix) for written in text.guards)
    return {name for name in text.functions_used if f"a result of {bare(name)}" in text.skill.core_rule}


def _lone(text: SkillDelta, template: str) -> Guard | None:
    guards = guards_of(text.guards)
    return guards[0] if len(guards) == 1 and guards[0].template == template and not guards[0].when else None


def joined(card: SkillDelta, delta: SkillDelta, packet: Packet) -> SkillDelta | None:
    """Both ask for the same before a call, and the calls are refused with the same words without it: one rule."""
    guards = guards_of((*card.guards, *delta.guards))
    first = {(guard.template, guard.function, guard.when) for guard in guards}
    if len(first) != 1 or not (card.guards and delta.guards) or guards[0].template != "precedence" or guards[0].when:
        return None
    refusals = [set(quoted(text.skill.core_rule)) for text in (card, delta)]
    thens = tuple(dict.fromkeys(guard.then for guard in guards))
    if not refusals[0] or refusals[0] != refusals[1] or len(thens) > MAX_CALLS or len(thens) == len(card.guards):
        return None
    needed, calls = guards[0].function, listed([bare(name) for name in thens])
    skill = card.skill.model_copy(
        update={
            "core_rule": f"Call {bare(needed)} and see it work before {calls}. Without it each of them answers "
            f"“{refusals[0].pop()}”.",
            "completion": tuple(dict.fromkeys([*card.skill.completion, *delta.skill.completion])),
        }
    )
    return SkillDelta(
        title=f"{plain(needed)} before {listed([plain(name) for name in thens])}"[:120],
        applies_when=f"One of {calls} is to be called, and {bare(needed)} has not worked yet.",
        solves=f"Calls of {calls} made before {bare(needed)} has been called.",
        tags=card.tags,
        skill=skill,
        evidence=card.evidence,
        functions_used=tuple(dict.fromkeys([*card.functions_used, *delta.functions_used])),
        guards=tuple(str(Guard("precedence", needed, then)) for then in thens),
    )


def shortened(card: SkillDelta, delta: SkillDelta, packet: Packet) -> SkillDelta | None:
    """Both say that a write of one app which has worked needs no second look: one rule about all such writes."""
    if card.guards or delta.guards or not (card.skill.efficiency and delta.skill.efficiency):
        return None
    ends = tuple(dict.fromkeys([*_ended_by(card), *_ended_by(delta)]))
    if ends == _ended_by(card) or len(ends) > MAX_CALLS or len({name.partition(".")[0] for name in ends}) > 1:
        return None
    functions = tuple(dict.fromkeys([*card.functions_used, *delta.functions_used]))
    looks = [name for name in functions if name not in ends]
    writes, seen = " or ".join(bare(name) for name in ends), " or ".join(bare(name) for name in looks)
    skill = card.skill.model_copy(
        update={
            "core_rule": f"Answer as soon as {writes} has worked: its own result says what was done. Looking again "
            f"with {seen} made no difference.",
            "completion": (f"{writes} returned no error",),
        }
    )
    return SkillDelta(
        title=f"End when {' or '.join(plain(name) for name in ends)} has worked"[:120],
        applies_when=f"{writes} has worked, and nothing else is asked.",
        solves=f"Calls of {seen} that change nothing.",
        tags=card.tags,
        skill=skill,
        evidence=card.evidence,
        functions_used=functions,
    )


def _ended_by(text: SkillDelta) -> tuple[str, ...]:
    said = [item for item in text.skill.completion if item.endswith(" returned no error")]
    return tuple(name for name in text.functions_used if any(bare(name) in item for item in said))


def asks_for(card: SkillDelta, delta: SkillDelta) -> bool:
    """Does the card ask, before a call, for what the delta does after the call's error?"""
    if delta.guards or not delta.skill.recovery or len(delta.functions_used) < 2:
        return False
    function, *way = delta.functions_used
    for guard in guards_of(card.guards):
        if guard.template == "precedence" and guard.then == function and guard.function in way:
            return "from its result" not in delta.skill.core_rule
        same = guard.target in (function, _class_by_name(function))
        if guard.template == "known_value" and same and f"`{guard.argument}`" in delta.skill.core_rule:
            return True
    return False


def _class_by_name(function: str) -> str:
    return f"{effect_of(plain(function))}s({function.partition('.')[0]})"
