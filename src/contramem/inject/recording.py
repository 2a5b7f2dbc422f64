"""Records every run that a memory guides, as lines that `contramem build` reads as traces.

Each event is one line, appended in one write, so that any number of threads and processes can share a file: each line
has the id of its run, and the reader (traces/readers/records.py) joins them. Off unless a path is given. Like the
inject log, it never stops an agent: a line that cannot be written is lost, and the first loss is reported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import UsageError
from contramem.inject.log import AppendFile
from contramem.traces.trajectory import Event, Outcome, digest

FORMAT = 1
MAX_BYTES = 256 << 20
"""The maximum size of a file. When it is reached, recording stops with one warning."""
MAX_LINE_BYTES = 64 << 10
"""Longer results and texts are cut, so that a run cannot fill the disk."""


class RunRecording:
    """Records runs to a file."""

    def __init__(
        self,
        path: str | Path,
        *,
        source: str = "agent",
        redact: bool = False,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`source` names the agent in the traces. With `redact`, no value of a task, an argument or a result is
        written: each is replaced by a mark that is the same for equal values of one run, and that reveals nothing else
        because its key is not stored. Requests are named by a digest, so that runs of one task stay together."""
        if not source:
            raise UsageError("source names the agent that is recorded; it cannot be empty.")
        self.path, self.source, self.redact = Path(path), source, redact
        self._clock = clock
        self._file = AppendFile(path, "recording", max_bytes)
        self._key = os.urandom(32)

    def start(
        self, run_id: str, task: str, *, task_id: str | None, ability: str | None, bank: str, guided: bool
    ) -> None:
        text = f"<redacted:{digest(task)}>" if self.redact else task
        about = {"task": text, "task_id": task_id or digest(task), "ability": ability, "source": self.source}
        self._append(run_id, "start", {**about, "bank": bank, "guided": guided})

    def record_shown(self, run_id: str, text: str, function: str, cards: Iterable[str], tokens: int) -> None:
        """Record what the agent was shown. It is text of the bank, so it is not redacted."""
        fields = {"text": text, "function": function, "cards": list(cards), "tokens": tokens}
        self._append(run_id, "shown", fields)

    def event(self, run_id: str, event: Event) -> None:
        """Record an event: a call with its result, a message, or anything else."""
        fields = msgspec.to_builtins(event)
        fields.pop("position", None)
        if self.redact:
            fields = _redact_event(fields, run_id, self._key)
        self._append(run_id, "event", {"event": fields})

    def finish(self, run_id: str, outcome: Outcome) -> None:
        feedback = "" if self.redact else outcome.feedback
        self._append(run_id, "finish", {"passed": outcome.passed, "reward": outcome.reward, "feedback": feedback})

    def _append(self, run_id: str, what: str, fields: dict[str, Any]) -> None:
        line = {"recording": FORMAT, "run": run_id, "time": self._clock().timestamp(), "what": what, **fields}
        self._file.append(lambda: _encode_line(line))


def _encode_line(line: dict[str, Any]) -> bytes:
    content = msgspec.json.encode(line)
    if len(content) > MAX_LINE_BYTES:
        for limit in (8000, 1000, 100):
            content = msgspec.json.encode(_cut(line, limit))
            if len(content) <= MAX_LINE_BYTES:
                break
        else:
            content = msgspec.json.encode(
                {key: line[key] for key in ("recording", "run", "time", "what")} | {"cut": True}
            )
    return content + b"\n"


def _cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}… [{len(value) - limit} characters left out]"
    if isinstance(value, dict):
        return {key: _cut(child, limit) for key, child in list(value.items())[:limit]}
    if isinstance(value, (list, tuple)):
        return [_cut(child, limit) for child in value[:limit]]
    return value


def _redact_event(fields: dict[str, Any], run_id: str, secret: bytes) -> dict[str, Any]:
    key = hashlib.sha256(secret + run_id.encode("utf-8", "surrogatepass")).digest()
    hidden = {name: _redact(fields[name], key) for name in ("text", "arguments") if fields.get(name)}
    result = fields.get("result")
    if isinstance(result, dict):
        hidden["result"] = {"content": _redact(result.get("content"), key)}
        if result.get("error"):
            hidden["result"]["error"] = "failed"
    return {**fields, **hidden}


def _redact(value: Any, key: bytes) -> Any:
    """The same structure without values. Names of fields, booleans and nulls stay, because they are its form."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return {name: _redact(child, key) for name, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redact(child, key) for child in value]
    mark = hashlib.blake2b(str(value).encode("utf-8", "surrogatepass"), key=key, digest_size=4).hexdigest()
    return f"<redacted:{mark}>"
