"""Pattern: the actions that a guard applies to: a function or a class of functions, with conditions on the arguments.

    Mail.send                      calls of one function
    Mail.send[folder = INBOX]      calls whose arguments satisfy a condition; argument_condition.py lists them all
    writes(Mail)  writes           calls that change the app; calls that change any app
    reads(Mail)  reads             the same for calls that only read
    ask                            a question to the user
    finalize                       the final answer, or a call that ends the run

All of them take conditions, joined by `and`. A question and the final answer have one argument, their `text`:
`finalize[text contains "ticket"]`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, cast

from contramem.errors import GuardError
from contramem.monitor.action import Action
from contramem.monitor.argument_condition import ArgumentCondition, parse_argument_condition

Kind: TypeAlias = Literal["function", "reads", "writes", "ask", "finalize"]


class Pattern(NamedTuple):
    """A set of actions."""

    kind: Kind
    name: str = ""
    """`App.function`, or the app of `reads` and `writes`; empty means any app."""
    conditions: tuple[ArgumentCondition, ...] = ()

    def __str__(self) -> str:
        whole = self.name if self.kind == "function" else f"{self.kind}({self.name})" if self.name else self.kind
        inside = " and ".join(map(str, self.conditions))
        return f"{whole}[{inside}]" if inside else whole

    @property
    def function(self) -> str:
        """`App.function`; empty for a class of functions."""
        return self.name if self.kind == "function" else ""

    @property
    def functions(self) -> tuple[str, ...]:
        """Every function that the pattern names, including those that values must come from."""
        sources = (function for condition in self.conditions for function in condition.functions)
        return tuple(name for name in (self.function, *sources) if name)

    def matches(self, action: Action) -> bool:
        if not self._is_of_kind(action):
            return False
        return not self.conditions or all(condition.holds(action) for condition in self.conditions)

    def _is_of_kind(self, action: Action) -> bool:
        if self.kind == "function":
            return action.function == self.name
        if self.kind in ("reads", "writes"):
            return f"{action.effect}s" == self.kind and (not self.name or action.function.startswith(f"{self.name}."))
        if self.kind == "finalize":
            return action.kind == "final" or action.effect == "finalize"
        return action.asks

    def in_words(self) -> str:
        """The pattern as worded in a sentence."""
        return f"{self._name_in_words} {' and '.join(condition.in_words() for condition in self.conditions)}".rstrip()

    def call_in_words(self) -> str:
        """The clause "such a call is made", as worded after "if"."""
        if self.kind != "function":
            return f"there is {self.in_words()}"
        tests = " and ".join(condition.in_words() for condition in self.conditions)
        return f"{self._name_in_words} is called {tests}".rstrip()

    @property
    def participle(self) -> str:
        """What is done with it: a function is "called", a question "asked"."""
        return {"function": "called", "ask": "asked", "finalize": "given"}.get(self.kind, "made")

    @property
    def _name_in_words(self) -> str:
        if self.kind in ("reads", "writes"):
            verb, thing = ("changes", "something") if self.kind == "writes" else ("looks into", "things")
            return f"a call that {verb} {self.name or thing}"
        if self.kind != "function":
            return {"ask": "a question to the user", "finalize": "the final answer"}[self.kind]
        return f"`{self.name.rpartition('.')[2]}`"


_CLASS = re.compile(r"(?:(reads|writes)(?:\(\s*([^\s().\[\]]+)\s*\))?|(ask|finalize))\s*(?:\[(.*)\])?", re.DOTALL)
_CALL = re.compile(r"([^\s().,\[\]]+\.[^\s().,\[\]]+)\s*(?:\[(.*)\])?", re.DOTALL)
# Matches only an `and` outside quoted values.
AND = re.compile(r'\s+and\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)')


@lru_cache(maxsize=4096)
def parse_pattern(text: str) -> Pattern:
    """Parse a pattern. Raises GuardError with what is wrong."""
    text = text.strip()
    if match := _CLASS.fullmatch(text):
        return Pattern(cast(Kind, match[1] or match[3]), match[2] or "", _conditions(match[4], text))
    match = _CALL.fullmatch(text)
    if match is None:
        raise GuardError(
            f"functions are written App.function; {text!r} is not, nor is it writes(App), reads(App), ask or finalize"
        )
    return Pattern("function", match[1], _conditions(match[2], text))


def _conditions(inside: str | None, text: str) -> tuple[ArgumentCondition, ...]:
    parts = AND.split(inside) if inside is not None else []
    return tuple(parse_argument_condition(part.strip(), text) for part in parts)
