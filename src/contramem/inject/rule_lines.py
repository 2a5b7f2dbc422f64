"""A Skill Card as one line: when it applies, and what to do then.

The line is for cards that the words of a request did not find. Whoever reads it has to see whether it applies, so it
starts with the calls that it is about, or with its condition as the guards state it. A card without guards that was
checked on the runs by a query is about the calls of its functions that change something. Cards whose guards are neither
about certain calls nor about observations have no line: they are for certain requests, and the words of this one did
not find them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contramem.bank.card import SkillCard
from contramem.counting import count_tokens
from contramem.guards.conditions import CallOccurs, Condition, Pattern, TaskSays, parse_pattern
from contramem.guards.guard import Guard, guards_of
from contramem.inject.budget import in_lines
from contramem.retrieve.tokens import tokenize
from contramem.traces.effects import effect_of

RULE_TOKENS = 55
"""A longer rule is replaced by what its guards say, which is the part that decides, and by its title."""
LINE_TOKENS = 80


@dataclass(frozen=True)
class RuleLine:
    """A Skill Card as a line of the list of rules, with its tokens. The short form gives the title instead of the rule,
    for lists that would otherwise leave out cards."""

    card_id: str
    full: str
    full_tokens: int
    short: str
    short_tokens: int


def rule_line_of(card: SkillCard) -> RuleLine | None:
    """None if the card has no short form."""
    full = write_rule_line(card)
    if not full:
        return None
    forms = sorted((count_tokens(f"{line}\n"), line) for line in {full, f"- {in_lines(_write_title(card))}"})
    short_tokens, short = forms[0]
    return RuleLine(card.card_id, full, count_tokens(f"{full}\n"), short, short_tokens)


def write_rule_line(card: SkillCard) -> str:
    """`- X: ...`, `- When ...: ...` or, if neither can be told, `- ... (Applies when: ...)`. Empty if no short form
    says enough."""
    guards = guards_of(card.guards)
    if not guards and not (card.functions_used and getattr(card, "grade", None)):
        return ""
    if guards and not any(guard.conditions or _find_calls(guard) for guard in guards):
        return ""
    has_condition = guards or _write_functions(card)
    for line in (_write_rule(card) if has_condition else "", _write_guards(card) if guards else "", _write_title(card)):
        if line and count_tokens(written := f"- {in_lines(line)}") <= LINE_TOKENS:
            return written
    return ""


def _write_rule(card: SkillCard) -> str:
    rule = card.skill.core_rule
    if count_tokens(rule) > RULE_TOKENS:
        return ""
    guards = guards_of(card.guards)
    leads = {_write_lead(guard) for guard in guards}
    lead = leads.pop() if len(leads) == 1 else _write_functions(card)
    if not lead:
        return f"{rule[0].upper()}{rule[1:]}"
    order = _write_order(guards[0], with_condition=True).rstrip(".") if len(guards) == 1 else ""
    if order and rule.startswith(order):  # the condition is in front already
        rule = f"{_write_order(guards[0]).rstrip('.')}{rule.removeprefix(order)}"
    return f"{lead} {_drop_call(rule, lead.rstrip(':'))}"


def _drop_call(rule: str, call: str) -> str:
    """The rule, to be read after the name of the call that it is about."""
    for start, short in ((f"Call {call} with ", "with "), (f"Do not call {call} with ", "not with ")):
        if rule.startswith(start):
            return f"{short}{rule.removeprefix(start)}"
    return _lower(rule)


def _write_guards(card: SkillCard) -> str:
    guards = guards_of(card.guards)
    leads = [_write_lead(guard) for guard in guards]
    if not all(leads):
        return ""
    orders = [_drop_call(_write_order(guard), lead.rstrip(":")) for lead, guard in zip(leads, guards, strict=True)]
    line = " ".join(f"{lead} {order}" for lead, order in zip(leads, orders, strict=True))
    said = {word for guard in guards for word in tokenize(guard.fill(guard.form.instruction))}
    return line if said.union(tokenize(line)).issuperset(tokenize(card.title)) else f"{line} ({card.title})"


def _write_title(card: SkillCard) -> str:
    if lead := _write_functions(card):
        return f"{lead} {_lower(card.title)}"
    return f"{card.title} (Applies when: {_lower(card.applies_when).rstrip('.')})"


def _write_functions(card: SkillCard) -> str:
    """`X, Y:`, the functions whose calls the card is about, those that change something if there are any. Empty if the
    card does not tell."""
    guards = guards_of(card.guards)
    about = [guard.advises_on for guard in guards] if guards else list(card.functions_used)
    named = dict.fromkeys(name.rpartition(".")[2] for name in about if name)
    names = [name for name in named if effect_of(name) != "read"] or (named if guards else [])
    return f"{', '.join(f'`{name}`' for name in names)}:" if names else ""


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
        order = guard.fill(guard.form.at_call or guard.form.instruction)
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
