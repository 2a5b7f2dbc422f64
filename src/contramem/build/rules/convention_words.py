"""The sentences of a card about a convention: when it applies, what to do, and what not to do."""

from __future__ import annotations

from dataclasses import dataclass

from contramem.build.rules.form_names import describe_shape
from contramem.build.rules.phrases import code_name, short_name
from contramem.guards.arguments import ArgumentCondition, Length, Test
from contramem.guards.choices import parse_choice
from contramem.guards.conditions import (
    CallOccurs,
    Condition,
    FieldReturned,
    FieldSum,
    ItemsReturned,
    Pattern,
    TaskSays,
    parse_pattern,
)
from contramem.guards.dates import DateRelation
from contramem.guards.guard import Guard
from contramem.guards.values import functions_of
from contramem.mining.fwords import join_list
from contramem.traces.effects import effect_of

MAX_TITLE_CHARS = 120
_OPPOSITE: dict[Test, Test] = {
    ">": "<=",
    "<=": ">",
    "<": ">=",
    ">=": "<",
    "missing": "given",
    "given": "missing",
    "contains": "lacks",
    "lacks": "contains",
    "mentions": "omits",
    "omits": "mentions",
}


@dataclass(frozen=True)
class ConventionWords:
    """What a guard tells an agent."""

    guard: Guard
    instead: str = ""
    """The call that passing runs make instead of what the guard forbids, in guard syntax."""
    form: str = ""
    """How passing runs write the value whose form the guard is about."""
    comes_first: bool = False
    """Whether passing runs make the call that the guard forbids after another one before it."""

    @property
    def title(self) -> str:
        long, short = f"{self._order}{self._when}", self._order
        if self.guard.template == "existence" and self._words_of_request:
            what = self._look_first or f"call {self._say(parse_pattern(self.guard.function))}"
            long = f"Requests about {self._words_of_request}: {what}"
        elif self.guard.template == "precedence":
            long = self.guard.fill("Call {first} before {then}{when}", when=self._when, say=self._say)
        if self._forbids_a_call and self.instead:
            long = self._forbid
        long = self._shorten_names(long).replace("`", "")
        if len(long) <= MAX_TITLE_CHARS:
            return long
        if self._when and self._says_only_whether:  # without its condition, the order would be another one
            short = (
                f"When {'not ' if self._forbids_a_call else ''}to call {self._say(parse_pattern(self.guard.function))}"
            )
        return self._shorten_names(short).replace("`", "")

    @property
    def occasion(self) -> str:
        """What the agent is about to do, or sees."""
        clauses = [self._occasion_of_template, *self._clauses]
        text = ", and ".join(clause for clause in clauses if clause) or "You are about to answer"
        return self._shorten_names(f"{text[0].upper()}{text[1:]}.")

    @property
    def rule(self) -> str:
        order = self._forbid if self._forbids_a_call else f"{self._order}{self._rather_than}{self._when}"
        if self._forbids_a_call and self.instead:
            order = f"{order}; call {self._say(parse_pattern(self.instead))} instead"
        return self._shorten_names(f"{order}.{self._looks}")

    @property
    def completion(self) -> str:
        """As a list item: no initial capital, no full stop."""
        sentence = self.guard.describe(self._say)
        return self._shorten_names(f"{sentence[0].lower()}{sentence[1:-1]}")

    # What to do

    @property
    def _forbids_a_call(self) -> bool:
        """Does it forbid the call itself, rather than a way to make it?"""
        return self.guard.template == "absence" and not parse_pattern(self.guard.function).conditions

    @property
    def _says_only_whether(self) -> bool:
        """Whether a call is made is all it is about, not how."""
        return self.guard.template in ("absence", "existence") and not parse_pattern(self.guard.function).conditions

    @property
    def _forbid(self) -> str:
        return self.guard.fill("Do not call {first}", say=self._say) + self._when

    @property
    def _order(self) -> str:
        """The instruction without its condition. If the guard forbids a way to make a call: the right way, if known."""
        if self.guard.function == self.guard.then:
            return self.guard.fill("Call {first} only once", say=self._say)
        if look := self._look_first:
            return f"{look[0].upper()}{look[1:]} before you act or answer"
        if self.guard.template == "not_succession" and self.comes_first:
            return self.guard.fill("Call {then} before {first}, not after it", say=self._say)
        if self.guard.template == "not_succession":
            return self.guard.fill("Do not call {then} after {first}", say=self._say)
        if self.guard.template == "absence" and (right := self._right_way):
            return f"Call {self._say(right)}"
        return self.guard.fill(self.guard.form.instruction, say=self._say).rstrip(".")

    @property
    def _look_first(self) -> str:
        """`look with ...`, if words of the request demand nothing but a read."""
        pattern = parse_pattern(self.guard.function)
        if self.guard.template != "existence" or pattern.conditions or not self._words_of_request:
            return ""
        return f"look with {self._say(pattern)}" if effect_of(short_name(pattern.function)) == "read" else ""

    @property
    def _right_way(self) -> Pattern | None:
        """How passing runs make the call that the guard forbids to make in another way."""
        wrong = parse_pattern(self.guard.function)
        if self.instead and wrong.conditions:
            return parse_pattern(self.instead)
        right = _reverse_test(wrong.conditions[0]) if len(wrong.conditions) == 1 else None
        return wrong._replace(conditions=(right,)) if right is not None else None

    @property
    def _rather_than(self) -> str:
        """`, not with ...`: the wrong way, unless the right way already implies it."""
        if self.guard.template != "absence" or not self.instead or self._forbids_a_call:
            return ""
        wrong = parse_pattern(self.guard.function)
        if _is_opposite(parse_pattern(self.instead).conditions[0], wrong.conditions[0]):
            return ""
        return f", not {' and '.join(self._say_test(test) for test in wrong.conditions)}"

    # When

    @property
    def _conditions(self) -> list[Condition]:
        """The conditions on the run, except that the call which the rule is about is made."""
        about = {parse_pattern(text).function for text in (self.guard.function, self.guard.then) if text}
        return [
            condition
            for condition in self.guard.conditions
            if not isinstance(condition, CallOccurs)
            or condition.pattern.conditions
            or condition.pattern.function not in about
        ]

    @property
    def _when(self) -> str:
        if self.guard.template == "precedence":  # the sentence ends with the call that the rule is about
            clauses, tests = self._clauses, self._own_tests
        else:
            clauses, tests = [self._say_condition(condition) for condition in self._conditions], ""
        excepted = [condition.in_words() for condition in self.guard.exceptions]
        unless = f", unless {' and '.join(excepted)}" if excepted else ""
        return f"{tests} if {' and '.join(clauses)}{unless}" if clauses else f"{tests}{unless}"

    def _say_condition(self, condition: Condition) -> str:
        if not isinstance(condition, CallOccurs) or condition.pattern.function != self.guard.target:
            return condition.in_words()
        tests = " and ".join(self._say_test(test) for test in condition.pattern.conditions)
        return f"it is called {tests}"

    @property
    def _clauses(self) -> list[str]:
        """The conditions that the template's occasion does not state already."""
        trigger = parse_pattern(self.guard.trigger).function
        return [
            self._say_seen(condition)
            for condition in self._conditions
            if not isinstance(condition, CallOccurs) or condition.pattern.function != trigger
        ]

    def _say_seen(self, condition: Condition) -> str:
        """The condition as the agent sees it."""
        if isinstance(condition, CallOccurs) and condition.pattern.function:
            return f"you call {self._say(condition.pattern)}"
        return condition.in_words()

    @property
    def _occasion_of_template(self) -> str:
        guard, trigger = self.guard, parse_pattern(self.guard.trigger)
        if guard.template == "existence" and not trigger.conditions and self._clauses:
            return ""  # the condition is the occasion
        who = code_name(trigger.function) if trigger.function else trigger.in_words()
        if guard.template == "covers":
            return f"{who} has returned several `{guard.field}`"
        if guard.template == "response" or guard.function == guard.then:
            return f"{who} has succeeded{self._own_tests}"
        if guard.template == "not_succession" and not self.comes_first:
            return self.guard.fill("{first} has succeeded, and you are about to call {then}", say=self._say)
        if not trigger.function:
            return f"you are about to make {who}" if trigger.kind != "finalize" else "you are about to answer"
        arguments = [f"`{test.argument}`" for test in trigger.conditions if test.test not in ("given", "missing")]
        return f"you are about to call {who}{self._own_tests or (f' with {join_list(arguments)}' if arguments else '')}"

    @property
    def _own_tests(self) -> str:
        """What the condition requires of the call that triggers the guard."""
        trigger = parse_pattern(self.guard.trigger).function
        own = [part.pattern for part in self.guard.conditions if isinstance(part, CallOccurs)]
        tests = [self._say_test(test) for each in own if each.function == trigger for test in each.conditions]
        return f" {' and '.join(tests)}" if tests else ""

    @property
    def _words_of_request(self) -> str:
        said = [part for part in self.guard.conditions if isinstance(part, TaskSays)]
        if len(said) != 1 or said[0].operator != "contains" or len(self.guard.conditions) != 1:
            return ""
        return f"“{said[0].value}”"

    @property
    def _looks(self) -> str:
        """The result to read first: failing runs rarely know what decides, because they never asked for it. Whoever
        finds nothing has looked."""
        looks = [
            code_name(part.function)
            for part in (*self.guard.conditions, *self.guard.exceptions)
            if isinstance(part, (FieldReturned, FieldSum, ItemsReturned))
            if not (isinstance(part, ItemsReturned) and part.at_most == 0 and self.guard.template == "existence")
        ]
        return f" Look with {join_list(list(dict.fromkeys(looks)))} before you decide." if looks else ""

    # Calls

    def _say(self, pattern: Pattern) -> str:
        tests = " and ".join(self._say_test(test) for test in pattern.conditions)
        return f"{pattern._replace(conditions=()).in_words()} {tests}".rstrip()

    def _say_test(self, test: ArgumentCondition) -> str:
        if test.test != "like":
            return test.in_words()
        is_right = test.value == find_right_shape(self.guard, self.instead)
        return f"with `{test.argument}` as {self.form if self.form and is_right else describe_shape(test.value)}"

    def _shorten_names(self, text: str) -> str:
        """`find_customer` instead of `northline.find_customer`, as everywhere else on cards."""
        named = functions_of(parse_pattern(self.instead)) if self.instead else ()
        for function in (*self.guard.functions, *named):
            text = text.replace(f"`{function}`", code_name(function))
        return text


def find_right_shape(guard: Guard, instead: str) -> str:
    """The shape that passing runs give an argument; empty if the rule is not about a form."""
    asked = instead if guard.template == "absence" else guard.function
    tests = parse_pattern(asked).conditions if asked else ()
    return next((test.value for test in tests if test.test == "like"), "")


def _reverse_test(test: ArgumentCondition) -> ArgumentCondition | None:
    """The test that holds exactly if `test` does not; None if guards have no short way to express it."""
    if test.test in _OPPOSITE:
        return test._replace(test=_OPPOSITE[test.test])
    operand = test.operand
    if isinstance(operand, (Length, DateRelation)) and operand.bound:
        return test._replace(value=str(operand.reverse_bound()))
    return None


def _is_opposite(right: ArgumentCondition, wrong: ArgumentCondition) -> bool:
    """Lowest and highest, first and last: naming both would say the same thing twice."""
    if right.test != "picks" or wrong.test != "picks":
        return False
    chosen, refused = parse_choice(right.value), parse_choice(wrong.value)
    return "having" not in (chosen.way, refused.way) and chosen[1:3] == refused[1:3]
