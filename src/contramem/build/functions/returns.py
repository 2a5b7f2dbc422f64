"""What a function returns, as its results show: kind, fields, sizes, and how often it comes back empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from contramem.build.functions.calls import Calls, tasks
from contramem.build.functions.errors import generalize
from contramem.build.functions.words import MAX_SPOKEN_WORDS, join_list, share_of, size_in_words
from contramem.contrast.form import FormKind, ResultForm, is_field
from contramem.contrast.repeatable import quote_message
from contramem.traces.effects import words

MAX_FIELDS = 10
MAX_VARIANTS = 3
COMMON = 0.1
"""A rarer kind of result is not mentioned."""
FIELD_SHARE = 0.2
"""The share of results that must have a field: keys inside a text that somebody wrote are not fields."""
USUAL_WORDING, MIN_TASKS_FOR_WORDING = 0.4, 3
"""A text that occurs in fewer results or tasks is not quoted."""
ALIKE = 0.5
"""Results that share this part of their fields are of the same kind."""

_NOUNS: dict[FormKind, str] = {
    "nothing": "nothing",
    "empty": "an empty result",
    "list": "a list",
    "map": "a map",
    "record": "a record",
    "text": "text",
    "number": "a number",
    "boolean": "true or false",
}


def gives_back(calls: Calls) -> str:
    """The kind of result in a few words."""
    kinds = Counter(call.form.kind for call in calls.worked if call.form is not None)
    if not kinds:
        return "gave something back that the traces do not show"
    kind = _most(Counter({kind: kinds[kind] for kind in kinds if kind not in ("empty", "nothing")}) or kinds)
    return f"returns {_NOUNS[kind]}"


def returns(calls: Calls) -> str:
    """What comes back, as a sentence."""
    forms = [call.form for call in calls.worked if call.form is not None]
    if not calls.worked:
        return "Unknown: no call was seen to work."
    if not forms:
        return "Unknown: the traces do not show what came back."
    full = [form for form in forms if form.kind not in ("empty", "nothing")]
    empty = len(forms) - len(full)
    if not full:
        return "Nothing: the result was empty in every call that worked, without an error."
    kind = _most(Counter(form.kind for form in full))
    alike = [form for form in full if form.kind == kind]
    usual = "" if len(alike) >= len(full) * (1 - COMMON) else "Mostly "
    text = usual + _kind_in_words(kind, alike) + (_wording(calls) if kind == "text" else "")
    others = Counter(form.kind for form in full if form.kind != kind)
    if usual:
        text += f"; otherwise {join_list([_NOUNS[other] for other in sorted(others)], 'or')}"
    if empty:
        text += f"; may come back empty ({share_of(empty, len(forms))} that worked)"
    return text[0].upper() + text[1:] + "."


def _kind_in_words(kind: FormKind, forms: Sequence[ResultForm]) -> str:
    variants = _variants(forms)
    if kind == "record":
        if len(variants) > 1:
            return f"one of several kinds of record: {' or '.join(_bracket(names) for names in variants)}"
        return f"a record with {', '.join(variants[0])}" if variants else "a record"
    if kind in ("list", "map"):
        sizes = size_in_words(kind, [form.size for form in forms if form.size])
        of = f" of records with {', '.join(variants[0])}" if variants else ""
        data_keys = "" if kind == "list" else " whose keys are data"
        return f"a {kind}{of}{data_keys}" + (f"; {sizes}" if sizes else "")
    return _NOUNS[kind]


def _wording(calls: Calls) -> str:
    """The text of most results, in quotes, if several tasks show that it is the tool's own; empty otherwise."""
    answered = [call for call in calls.worked if call.returned]
    wordings = Counter(generalize(call.returned.splitlines()[0]) for call in answered)
    if not wordings:
        return ""
    text = min(wordings, key=lambda text: (-wordings[text], text))
    alike = [call for call in answered if generalize(call.returned.splitlines()[0]) == text]
    usual = len(alike) >= len(calls.worked) * USUAL_WORDING and tasks(alike) >= MIN_TASKS_FOR_WORDING
    quoted = quote_message(text, tasks(alike), calls.interface) if usual else ""
    return f', such as "{quoted}"' if quoted else ""


def _bracket(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


def _variants(forms: Sequence[ResultForm]) -> list[tuple[str, ...]]:
    """The sets of fields of the results, most frequent first; sets that share half their fields count as one."""
    clusters: list[list[ResultForm]] = []
    sets = Counter(form.fields for form in forms if form.fields)
    for fields in sorted(sets, key=lambda fields: (-sets[fields], fields)):
        forms_here = [form for form in forms if form.fields == fields]
        home = next((cluster for cluster in clusters if _overlap(cluster[0].fields, fields) >= ALIKE), None)
        if home is None:
            clusters.append(forms_here)
        else:
            home += forms_here
    common = [cluster for cluster in clusters if len(cluster) >= len(forms) * COMMON]
    most = MAX_FIELDS if len(common) < 2 else MAX_FIELDS // 2
    named = [_fields(cluster, most) for cluster in sorted(common, key=len, reverse=True)[:MAX_VARIANTS]]
    return [names for names in named if names]


def _overlap(left: Sequence[str], right: Sequence[str]) -> float:
    return len(set(left) & set(right)) / len(set(left) | set(right))


def _fields(forms: Sequence[ResultForm], most: int) -> tuple[str, ...]:
    seen = Counter(name for form in forms for name in form.fields if is_field(name))
    places = {name: min(form.fields.index(name) for form in forms if name in form.fields) for name in seen}
    kept = [name for name in seen if seen[name] >= len(forms) * FIELD_SHARE]
    # A longer name can be a sentence, and whoever fills a record chooses it.
    short = [name for name in kept if len(words(name)) <= MAX_SPOKEN_WORDS]
    ordered = sorted(short, key=lambda name: (places[name], name))[:most]
    return (*ordered, "and more") if ordered and len(kept) > len(ordered) else tuple(ordered)


def _most(kinds: Counter[FormKind]) -> FormKind:
    return min(kinds, key=lambda kind: (-kinds[kind], kind))
