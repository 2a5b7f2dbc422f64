"""A Skill Card as one line: when it applies, and what to do then.

The line is for cards that the words of a request did not find. Whoever reads it has to see whether it applies, so it
starts with its condition. Only cards whose guards are about certain calls or observations have a line: whether they
apply shows in the run. Other cards are for certain requests, and the words of this one did not find them.
"""

from __future__ import annotations

from contramem.bank.card import SkillCard
from contramem.counting import count_tokens
from contramem.inject.budget import CardText, Size, in_lines, size
from contramem.monitor.guard import Guard, guards_of
from contramem.monitor.pattern import parse_pattern
from contramem.monitor.scope import CallOccurs, Condition
from contramem.retrieve.tokens import tokenize

RULE_TOKENS = 55
"""A longer rule is replaced by what its guards say, which is the part that decides, and by its title."""
LINE_TOKENS = 80


def rule_text_of(card: SkillCard) -> CardText | None:
    """A Skill Card as a line of the list of rules; None if it has no short form."""
    line = write_rule_line(card)
    return CardText(card.card_id, (line,), (Size(0, 0), size(line + "\n")), essential=1) if line else None


def write_rule_line(card: SkillCard) -> str:
    """`- When you call X: ...`; empty if the card cannot be told in one line."""
    if not any(describe_occasion(guard) for guard in guards_of(card.guards)):
        return ""
    for line in (_write_rule(card), _write_guards(card), _write_title(card)):
        if line and count_tokens(written := f"- {in_lines(line)}") <= LINE_TOKENS:
            return written
    return ""


def _write_rule(card: SkillCard) -> str:
    rule = _lower(card.skill.core_rule)
    if count_tokens(rule) > RULE_TOKENS:
        return ""
    if rule.startswith("when "):
        return f"{rule[0].upper()}{rule[1:]}"
    first, *others = [describe_occasion(guard) for guard in guards_of(card.guards)]
    clauses = first if all(other == first for other in others) else []
    if not clauses:
        return f"When {_lower(card.applies_when).rstrip('.')}: {rule}"
    unsaid = [clause for clause in clauses[1:] if clause not in rule]
    return f"When {' and '.join([clauses[0], *unsaid])}: {rule}"


def _write_guards(card: SkillCard) -> str:
    guards = guards_of(card.guards)
    occasions = [" and ".join(describe_occasion(guard)) for guard in guards]
    if not guards or not all(occasions):
        return ""
    orders = [_shorten_names(_lower(guard.fill(guard.form.instruction)), guard) for guard in guards]
    line = " ".join(f"When {when}: {order}" for when, order in zip(occasions, orders, strict=True))
    return line if set(tokenize(card.title)) <= set(tokenize(line)) else f"{line} ({card.title})"


def _write_title(card: SkillCard) -> str:
    return f"When {_lower(card.applies_when).rstrip('.')}: {_lower(card.title)}"


def describe_occasion(guard: Guard) -> list[str]:
    """The calls and observations that bring a guard into play; none if it is for every run that its card is for."""
    function = "" if guard.demand == "a call" and not guard.form.takes_two else guard.advises_on
    clauses = [_describe(condition) for condition in guard.conditions if not _is_call_of(condition, function)]
    if function and not any(_is_call_of(condition, function, tested=True) for condition in guard.conditions):
        trigger = parse_pattern(guard.trigger)
        call = trigger if guard.form.takes_two else trigger._replace(conditions=())
        clauses.insert(0, f"you call {call.in_words()}")
    return [_shorten_names(clause, guard) for clause in clauses]


def _describe(condition: Condition) -> str:
    if isinstance(condition, CallOccurs) and condition.pattern.function:
        return f"you call {condition.pattern.in_words()}"
    return condition.in_words()


def _is_call_of(condition: Condition, function: str, *, tested: bool = False) -> bool:
    """Whether the condition is that `function` is called: in any way, or in a way that is `tested`."""
    if not isinstance(condition, CallOccurs) or condition.pattern.function != function:
        return False
    return bool(condition.pattern.conditions) == tested


def _shorten_names(text: str, guard: Guard) -> str:
    for function in guard.functions:
        text = text.replace(f"`{function}`", f"`{function.rpartition('.')[2]}`")
    return text


def _lower(text: str) -> str:
    """With a small first letter, unless the word is a name or an abbreviation."""
    return f"{text[0].lower()}{text[1:]}" if text[1:2].islower() or text[1:2] == " " else text
