"""Verdicts in the files that graders write: SWE-bench reports, results of harnesses, exit codes, JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from contramem.traces.decoding import number
from contramem.traces.effects import words
from contramem.traces.files import TraceFile

MAX_XML_BYTES = 50 << 20

_PASSED = frozenset("pass passed true success successful succeeded solved resolved correct yes ok".split())
_FAILED = frozenset("fail failed false failure unsuccessful unsolved unresolved incorrect wrong no nok error".split())
VERDICTS = ("resolved", "is_resolved", "passed", "success", "is_correct", "correct", "solved")
"""What graders and people call the field with their verdict."""
_REWARDS = ("reward", "score")
_VERDICT_WORDS = frozenset("pass passed passes success successful succeeded solved resolved correct".split())
_JUDGED_WORDS = frozenset("eval evaluation grade judge judgement judgment outcome result score status verdict".split())
"""What a field may be called that a grader filled, and also one that tells something else: never taken unasked."""
_PASSING_LISTS = ("resolved_ids", "resolved", "resolved_instances", "passed_ids")
_FAILING_LISTS = ("unresolved_ids", "unresolved", "failed_ids", "error_ids", "empty_patch_ids")


class Verdict(NamedTuple):
    passed: bool | None
    reward: float | None = None
    feedback: str = ""


def verdict_of(value: object) -> tuple[bool | None, float | None]:
    """(passed, reward) of an outcome in any usual form: a bool, a word, or a number that passes from 1."""
    if isinstance(value, Verdict):
        return value.passed, value.reward
    if isinstance(value, bool):
        return value, None
    if isinstance(value, str) and (word := value.strip().lower()) in _PASSED | _FAILED:
        return word in _PASSED, None
    reward = number(value)
    return (None, None) if reward is None else (reward >= 1, reward)


class VerdictField(NamedTuple):
    """A field of a record that may be its verdict."""

    place: str
    passed: bool
    reward: float | None
    is_plain: bool
    """Its name says that the run passed, so it is taken where no field has a documented name."""


def verdict_fields(record: Mapping[str, Any]) -> list[VerdictField]:
    """All fields of a record, and of the objects in it, that may be its verdict: by their name and by their value."""
    inner = [(f"{key}.", value) for key, value in record.items() if isinstance(value, dict)]
    held = [(f"{around}{key}", value) for around, fields in [("", record), *inner] for key, value in fields.items()]
    return [field for place, value in held if not isinstance(value, (dict, list)) and (field := _field(place, value))]


def _field(place: str, value: object) -> VerdictField | None:
    named = words(place.rpartition(".")[2])
    ends = {*named[:1], *named[-1:]} | ({named[1]} if named[:1] in (["is"], ["was"], ["has"]) and named[1:] else set())
    is_plain = not ends.isdisjoint(_VERDICT_WORDS)
    is_reward = not ends.isdisjoint(_REWARDS)
    if not (is_plain or is_reward or not ends.isdisjoint(_JUDGED_WORDS)):
        return None
    passed, reward = verdict_of(value)
    if passed is None or (reward is not None and not (reward in (0, 1) or (is_reward and 0 <= reward <= 1))):
        return None
    return VerdictField(place, passed, reward, is_plain)


def verdict_in_document(document: Any, names: Sequence[str]) -> Verdict | None:
    """What a report says about the run that goes by one of `names`; about the only run, when it names none."""
    if isinstance(document, list):
        return next((verdict for row in document if _is_about(row, names) and (verdict := _fields(row))), None)
    if not isinstance(document, dict):
        return None
    for name in names:
        if isinstance(document.get(name), dict):
            return _fields(document[name])
        if isinstance(document.get(name), bool):
            return Verdict(document[name])
    if (listed := _verdict_of_list(document, names)) is not None:
        return listed
    if isinstance(document.get("results"), (list, dict)):
        return verdict_in_document(document["results"], names)
    if _run_name(document) and names and not _is_about(document, names):
        return None
    return _fields(document)


def _run_name(row: dict[str, Any]) -> str:
    keys = ("instance_id", "task_id", "task_name", "id", "trial_name")
    return next((str(row[key]) for key in keys if isinstance(row.get(key), (str, int))), "")


def _is_about(row: object, names: Sequence[str]) -> bool:
    return isinstance(row, dict) and _run_name(row) in names


def _verdict_of_list(document: dict[str, Any], names: Sequence[str]) -> Verdict | None:
    for keys, passed in ((_PASSING_LISTS, True), (_FAILING_LISTS, False)):
        for key in keys:
            ids = document.get(key)
            if isinstance(ids, list) and any(name in ids for name in names):
                return Verdict(passed)
    # SWE-bench's experiments list what was resolved and what has no patch or log; all else of the benchmark failed.
    return Verdict(False) if isinstance(document.get("resolved"), list) and "no_logs" in document else None


def _fields(row: dict[str, Any]) -> Verdict | None:
    for key in VERDICTS:
        if isinstance(row.get(key), bool):
            return Verdict(row[key], feedback=_failing_tests(row))
    rewards = (
        (row.get("verifier_result") or {}).get("rewards") if isinstance(row.get("verifier_result"), dict) else None
    )
    values = (
        [value for value in map(number, rewards.values()) if value is not None] if isinstance(rewards, dict) else []
    )
    values += [value for key in _REWARDS if (value := number(row.get(key))) is not None]
    return Verdict(min(values) >= 1, min(values)) if values else None


def _failing_tests(row: dict[str, Any]) -> str:
    status = row.get("tests_status")
    groups = status.values() if isinstance(status, dict) else ()
    failing = [name for group in groups if isinstance(group, dict) for name in group.get("failure") or ()]
    return ", ".join(map(str, failing[:5]))[:500]


def exit_code_verdict(file: TraceFile) -> Verdict | None:
    text = file.content[:100].decode("utf-8", "replace").strip()
    return Verdict(text == "0") if re.fullmatch(r"-?\d+", text) else None


def word_verdict(file: TraceFile) -> Verdict | None:
    """The verdict in a file of one word (`success`) or number."""
    passed, reward = verdict_of(file.content[:100].decode("utf-8", "replace"))
    return None if passed is None else Verdict(passed, reward)


def reward_verdict(file: TraceFile) -> Verdict | None:
    reward = number(file.content[:100].decode("utf-8", "replace").strip())
    return None if reward is None else Verdict(reward >= 1, reward)


def junit_verdict(file: TraceFile) -> Verdict | None:
    """Every test of a JUnit file passed, and there was one. A file with entities of its own is not parsed."""
    content = file.content
    if len(content) > MAX_XML_BYTES or b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return None
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    cases = list(root.iter("testcase"))
    if not cases:
        return None
    failing = [
        case.get("name") or "" for case in cases if case.find("failure") is not None or case.find("error") is not None
    ]
    return Verdict(not failing, feedback=", ".join(failing[:5])[:500])
