"""GuardCandidate: a guard that is worth a trial, with its parts as values: a study weighs thousands of them, and parses
only those that may explain a failure."""

from __future__ import annotations

from typing import NamedTuple

from contramem.errors import GuardError
from contramem.guards.guard import Guard, parse_guard
from contramem.guards.templates import Template
from contramem.study.masks import GuardMasks
from contramem.study.seen_relation import SeenRelation


class GuardCandidate(NamedTuple):
    """A guard, and which runs followed or broke it."""

    text: str
    masks: GuardMasks
    template: Template
    function: str
    """The function that it demands, forbids or is about."""
    first: str = ""
    """The function that comes first, for templates that take two."""
    argument: str = ""
    """The argument of `function` that it is about, if any."""
    relation: SeenRelation | None = None
    """What it says about the argument: `like 99.99.9999`. None for `covers`."""
    is_length: bool = False
    """Whether the relation is about the length of a text."""

    @property
    def is_presence(self) -> bool:
        """A call demanded in every run or in none: not a rule unless it says when."""
        return self.template in ("existence", "absence") and not self.argument

    @property
    def is_ban(self) -> bool:
        return self.template == "absence"

    @property
    def is_about_words(self) -> bool:
        """Whether it is about what a text says, or how long it is."""
        return self.is_length or (self.relation is not None and self.relation.test in ("contains", "mentions"))

    @property
    def family(self) -> tuple[str, str]:
        """The function, and what is demanded: that it is called, how it is called, what a number is calculated from, or
        what a text says. There are far more words and calculations than anything else."""
        if self.is_about_words:
            return self.function, "words"
        if self.relation is None:
            return self.function, "calls"
        return self.function, "calculations" if self.relation.is_calculated else "arguments"

    def parse(self) -> Guard | None:
        """None: it contains a name from the runs that guard syntax cannot express."""
        try:
            return parse_guard(self.text)
        except GuardError:
            return None


def about_call(template: Template, function: str, masks: GuardMasks) -> GuardCandidate:
    """A candidate about one function: whether or how often it is called."""
    return GuardCandidate(f"{template}({function})", masks, template, function)


def about_two_calls(template: Template, first: str, then: str, masks: GuardMasks) -> GuardCandidate:
    """A candidate about the order of two functions."""
    return GuardCandidate(f"{template}({first}, {then})", masks, template, then, first)


def about_argument(
    template: Template,
    function: str,
    argument: str,
    relation: SeenRelation,
    masks: GuardMasks,
    is_length: bool = False,
) -> GuardCandidate:
    """A candidate about how an argument is given whenever the function is called."""
    text = f"{template}({function}[{argument} {relation}]) when {function}"
    return GuardCandidate(text, masks, template, function, "", argument, relation, is_length)
