"""GuardCandidate: a guard that is worth a trial, with its parts as values: a study weighs thousands of them, and parses
only those that may explain a failure."""

from __future__ import annotations

from typing import NamedTuple

from contramem.errors import GuardError
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.template import Template
from contramem.study.masks import GuardMasks


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
    test: str = ""
    """What it says about the argument, in guard syntax: `like 99.99.9999`. Empty for `covers`."""
    is_length: bool = False
    """Whether the test is about the length of a text."""

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
        return self.is_length or self.test.partition(" ")[0] in ("contains", "mentions")

    @property
    def family(self) -> tuple[str, str]:
        """The function, and what is demanded: that it is called, how it is called, or what a text says. There are far
        more words than anything else."""
        return self.function, "words" if self.is_about_words else "arguments" if self.test else "calls"

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
    template: Template, function: str, argument: str, test: str, masks: GuardMasks, *, is_length: bool = False
) -> GuardCandidate:
    """A candidate about how an argument is given whenever the function is called."""
    text = f"{template}({function}[{argument} {test}]) when {function}"
    return GuardCandidate(text, masks, template, function, "", argument, test, is_length)
