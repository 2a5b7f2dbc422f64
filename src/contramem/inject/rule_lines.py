"""A Skill Card as one line: when it applies, and what to do then.

The line is for cards that the words of a request did not find. Whoever reads it has to see whether it applies, so it
starts with the call that it is about, or with its condition as the guards state it. A card without guards that was
checked on the runs by a query says itself when it applies, and its title what to do. Cards whose guards are neither
about certain calls nor about observations have no line: they are for certain requests, and the words of this one did
not find them.
"""

from __future__ import annotations

from collections.abc import Iterable

from contramem.bank.card import SkillCard
from contramem.counting import count_tokens
from contramem.inject.budget import CardText, Size, in_lines, size
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.pattern import Pattern, parse_pattern
from contramem.monitor.scope import CallOccurs, Condition, TaskSays
from contramem.retrieve.tokens import tokenize

RULE_TOKENS = 55
"""A longer rule is replaced by what its guards say, which is the part that decides, and by its title."""
LINE_TOKENS = 80


def rule_text_of(card: SkillCard) -> CardText | None:
    """A Skill Card as a line of the list of rules; None if it has no short form."""
    line = write_rule_line(card)
    return CardText(card.card_id, (line,), (Size(0, 0), size(line + "\n")), essential=1) if line else None


def write_rule_line(card: SkillCard) -> str:
    """`- X: ...` or `- When ...: ...`; empty if the card cannot be told in one line."""
    guards = guards_of(card.guards)
    if not guards and not (card.functions_used and getattr(card, "grade", None)):
        return ""
    if guards and not any(guard.conditions or _find_calls(guard) for guard in guards):
        return ""
    for line in (_write_rule(card), _write_guards(card), _write_title(card)) if guards else (_write_title(card),):
        if line and count_tokens(written := f"- {in_lines(line)}") <= LINE_TOKENS:
            return written
    return ""


def _write_rule(card: SkillCard) -> str:
    rule = card.skill.core_rule
    if count_tokens(rule) > RULE_TOKENS:
        return ""
    guards = guards_of(card.guards)
    leads = {_write_lead(guard) for guard in guards}
    lead = leads.pop() if len(leads) == 1 else _write_condition(card)
    if len(guards) == 1 and lead and rule.startswith(order := _write_order(guards[0], with_condition=True)):
        # The condition is in front already.
        return f"{lead} {_lower(_write_order(guards[0]))}{rule.removeprefix(order)}"
    return f"{lead} {_lower(rule)}" if lead else f"{rule[0].upper()}{rule[1:]}"


def _write_guards(card: SkillCard) -> str:
    guards = guards_of(card.guards)
    leads = [_write_lead(guard) for guard in guards]
    if not all(leads):
        return ""
    orders = [_lower(_write_order(guard)) for guard in guards]
    line = " ".join(f"{lead} {order}" for lead, order in zip(leads, orders, strict=True))
    return line if set(tokenize(card.title)) <= set(tokenize(line)) else f"{line} ({card.title})"


def _write_title(card: SkillCard) -> str:
    return f"{_write_condition(card)} {_lower(card.title)}"


def _write_condition(card: SkillCard) -> str:
    return f"When {_lower(card.applies_when).rstrip('.')}:"


def _write_lead(guard: Guard) -> str:
    """`X:` for a guard about every call of X, otherwise `When ...:`. Empty if only the words of a request bring it into
    play: a card is not listed for requests without those words."""
    calls, observations = _find_calls(guard), _describe_observations(guard.conditions)
    if len(calls) == 1 and not calls[0].conditions and not observations and not guard.exceptions:
        return f"{calls[0].in_words()}:"
    names = [call.in_words() for call in calls]
    clauses = [*([f"you call {' and '.join(names)}"] if names else []), *observations]
    excepted = [condition.in_words() for condition in guard.exceptions]
    unless = f", unless {' and '.join(excepted)}" if excepted else ""
    return _shorten_names(f"When {' and '.join(clauses)}{unless}:", guard) if clauses else ""


def _write_order(guard: Guard, *, with_condition: bool = False) -> str:
    """What a guard tells an agent to do. Without its condition, a demand on every call of a function only says how to
    make the call: `with ...`."""
    pattern = parse_pattern(guard.function)
    every_call = CallOccurs(pattern._replace(conditions=()))
    conditions = [condition.in_words() for condition in guard.conditions if condition != every_call]
    if with_condition:
        when = f" if {' and '.join(conditions)}" if conditions else ""
        order = guard.fill(guard.form.instruction, when=when)
    elif guard.template == "existence" and guard.conditions == (every_call,):
        order = f"{' and '.join(test.in_words() for test in pattern.conditions)}."
    else:
        order = guard.fill(guard.form.instruction)
    return _shorten_names(order, guard)


def _find_calls(guard: Guard) -> list[Pattern]:
    """The calls that bring a guard into play. None if it demands a call without saying how to make it, or forbids one
    under conditions: the order itself names that call."""
    one_function = not guard.form.takes_two
    is_ban = guard.demand == "no call" and not parse_pattern(guard.function).conditions and bool(guard.conditions)
    function = "" if one_function and (guard.demand == "a call" or is_ban) else guard.advises_on
    calls = [
        condition.pattern
        for condition in guard.conditions
        if isinstance(condition, CallOccurs) and condition.pattern.function
    ]
    if not function or any(call.function == function and call.conditions for call in calls):
        return [call for call in calls if call.function != function or call.conditions]
    trigger = parse_pattern(guard.trigger)
    own = trigger if guard.form.takes_two else trigger._replace(conditions=())
    return [own, *(call for call in calls if call.function != function)]


def _describe_observations(conditions: Iterable[Condition]) -> list[str]:
    """The conditions that are neither calls of a function nor words of the request."""
    return [
        condition.in_words()
        for condition in conditions
        if not isinstance(condition, TaskSays)
        and not (isinstance(condition, CallOccurs) and condition.pattern.function)
    ]


def _shorten_names(text: str, guard: Guard) -> str:
    for function in guard.functions:
        text = text.replace(f"`{function}`", f"`{function.rpartition('.')[2]}`")
    return text


def _lower(text: str) -> str:
    """With a small first letter, unless the word is a name or an abbreviation."""
    return f"{text[0].lower()}{text[1:]}" if text[1:2].islower() or text[1:2] == " " else text
