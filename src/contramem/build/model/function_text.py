"""The calls of one function as a construction model reads them: similar calls grouped and counted, no error omitted."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from contramem.contrast.documentation import clean_documentation
from contramem.contrast.observation import Observation
from contramem.contrast.quotation import quote_if_long, quote_words, shorten_quotations
from contramem.counting import count_tokens
from contramem.mining.functions import Calls
from contramem.traces.trajectory import Tool

FUNCTION_BUDGET_TOKENS = 2_500
MAX_EXAMPLES, MIN_EXAMPLES = 12, 3
MAX_VALUES = 6
MAX_DOC_CHARS, MIN_DESCRIPTION_CHARS = 6_000, 1_000
"""Tokens for the documentation of one function; and for its description, however many parameters there are."""


_PLAIN_CHOICE = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}\d{0,2}|\d{1,4}")


def function_text(observations: Sequence[Observation], budget_tokens: int = FUNCTION_BUDGET_TOKENS) -> str:
    """Arguments, results, errors with what fixed them, repeats, and examples: fewer of them if space is short.

    Contains no outcomes and no tasks: a Function Card is about the tool.
    """
    for examples in range(MAX_EXAMPLES, MIN_EXAMPLES - 1, -3):
        text = "\n".join(_lines(observations, examples))
        if count_tokens(text) <= budget_tokens:
            break
    return text


def tool_text(tool: Tool | None) -> str:
    """The parts of the function's documentation that fit a manual: its parameters, then its description, complete if it
    fits. Empty: there is none."""
    tool = clean_documentation(tool)
    if tool is None:
        return ""
    lines = [f"  {line}" for line in _parameters(tool.parameters)]
    parameters = "\n".join(["parameters:", *lines]) if lines else ""
    room = max(MAX_DOC_CHARS - len(parameters), MIN_DESCRIPTION_CHARS)
    described = quote_words(tool.description[:room]) if tool.description else ""
    return "\n".join(filter(None, (parameters, described)))


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    """A line per parameter; descriptions are cut before a parameter is omitted."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        if schema:
            yield quote_words(msgspec.json.encode(schema, order="deterministic").decode()[:MAX_DOC_CHARS])
        return
    required = schema.get("required", ())
    room = MAX_DOC_CHARS // max(len(properties), 1)
    for name, part in properties.items():
        kind = _schema_kind(part)
        description = part.get("description", "") if isinstance(part, dict) else ""
        described = f": {quote_words(description[:room])}" if description else ""
        yield f"{name} ({kind}{', required' if name in required else ''}){described}"


def _schema_kind(part: Any) -> str:
    if not isinstance(part, dict):
        return "any"
    if part.get("enum"):
        return f"one of {', '.join(map(_choice, part['enum']))}"
    choices = part.get("anyOf") or part.get("oneOf")
    if isinstance(choices, list):
        return " or ".join(map(_schema_kind, choices))
    of = f" of {_schema_kind(part['items'])}" if part.get("type") == "array" and "items" in part else ""
    return f"{part.get('type', 'any')}{of}"


def _choice(value: object) -> str:
    """A plain word or number as it is, anything else as somebody's words."""
    return str(value) if not isinstance(value, str) or _PLAIN_CHOICE.fullmatch(value) else quote_words(value)


def _lines(observations: Sequence[Observation], examples: int) -> Iterator[str]:
    worked = [call for call in observations if not call.error]
    tasks = len({call.task_key for call in observations})
    effects = Counter(str(call.effect) for call in observations)
    yield f"{len(observations)} calls in {tasks} tasks, {len(worked)} without error; effect: {_tally(effects)}"
    yield "arguments (calls that gave it; form; where its value had been seen before; values, where few):"
    for name in sorted({name for call in observations for name in call.arguments}):
        yield f"  {name}: {_argument(name, observations)}"
    forms = Counter(str(call.form or "not shown") for call in worked)
    yield f"results of calls that worked: {_tally(forms) or 'none'}"
    yield from _errors(observations[0].function, observations)
    if repeats := [call for call in observations if call.repeated or call.looped]:
        needless = sum(call.redundant for call in repeats)
        yield f"the same call again in one run: {len(repeats)} times, {needless} of them with nothing changed between"
    yield "examples (×: how often):"
    made = Counter(_example(call, show_form=len(forms) > 1) for call in observations)
    yield from (f"  ×{count} {text}" for text, count in made.most_common(examples))


def _argument(name: str, observations: Sequence[Observation]) -> str:
    given = [call for call in observations if name in call.arguments]
    forms = Counter(call.forms.get(name, "?") for call in given)
    origins = Counter(call.origins[name] for call in given if name in call.origins)
    values = Counter(_value(call.arguments[name]) for call in given)
    text = f"{len(given)} of {len(observations)}; {_tally(forms)}; from {_tally(origins) or 'unknown'}"
    is_short = len(values) <= MAX_VALUES and not any(_PLACEHOLDER.search(value) for value in values)
    return f"{text}; values {_tally(values)}" if is_short else text


def _errors(function: str, observations: Sequence[Observation]) -> Iterator[str]:
    groups = defaultdict[str, list[Observation]](list)
    for call in observations:
        if call.error:
            groups[_renumber(call.error)].append(call)
    retries = {id(retry.first): retry for retry in Calls(function, observations).retries}
    for error, calls in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        tried = [retries[id(call)] for call in calls if id(call) in retries]
        fixes = Counter(", ".join(sorted(retry.changed)) for retry in tried if retry.changed and not retry.then.error)
        between = Counter(", ".join(sorted(retry.between)) for retry in tried if retry.between)
        fixed = f"; worked after changing {_tally(fixes)}" if fixes else ""
        after = f"; called in between {_tally(between)}" if between else ""
        yield f"error ×{len(calls)}: {quote_words(error)}{fixed}{after}"


def _example(call: Observation, show_form: bool) -> str:
    """A call and, as far as the lines above leave it open, what came of it."""
    given = ", ".join(f"{name}={_value(value)}" for name, value in call.arguments.items())
    if call.error:
        return _renumber(f"({given}) -> error: {shorten_quotations(quote_words(call.error))}")
    return _renumber(f"({given}) -> {call.form or 'not shown'}" if show_form else f"({given})")


_PLACEHOLDER = re.compile(r"<([A-Z]+)_\d+>")


def _renumber(text: str) -> str:
    """Number placeholders by their first appearance here: a number has a meaning only within one task, so calls of
    different tasks would seem alike or different by accident."""
    names: dict[str, str] = {}
    kinds = Counter[str]()

    def number(match: re.Match[str]) -> str:
        if match[0] not in names:
            kinds[match[1]] += 1
            names[match[0]] = f"<{match[1]}_{kinds[match[1]]}>"
        return names[match[0]]

    return _PLACEHOLDER.sub(number, text)


def _value(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return quote_if_long(text if len(text) <= 80 else text[:79] + "…")


def _tally(counts: Counter[str]) -> str:
    return ", ".join(f"{what} ×{count}" for what, count in counts.most_common(MAX_VALUES))
