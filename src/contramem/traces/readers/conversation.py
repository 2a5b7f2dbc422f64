"""Base of the readers of framework message dumps: each only translates its messages into chat messages.

A file is a bare list of messages, or records (one per line, a list, one object) that hold such a list beside the fields
that chat records have. So `--map`, outcomes and tools work the same for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.records import is_step, read_records
from contramem.traces.trajectory import Trajectory

LOOKED_AT = 20
"""Messages that are looked at to recognise a dialect."""


class ConversationReader(ABC):
    """One dialect of messages. A subclass says what its messages look like and how they read as chat messages."""

    name: str
    keys: tuple[str, ...] = ("messages",)
    """Where a record keeps its messages; dots lead into objects."""

    @abstractmethod
    def is_message(self, value: object) -> bool:
        """Is this one message of the dialect?"""

    @abstractmethod
    def translate(self, message: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        """The chat messages that one message stands for; none if it adds nothing to a run."""

    def facts(self, record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
        """Fields under the names of chat records that the framework keeps elsewhere. The record's own fields win."""
        return {}

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        if isinstance(head, list) and head and not self.is_message(head[0]):
            head = head[0]
        if file.is_lines and self.is_message(head):
            return True
        messages = self._messages(head)
        return not is_step(head) and bool(messages) and all(map(self.is_message, messages[:LOOKED_AT]))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_records(file, options, self._as_chat_record, self.is_message)

    def _messages(self, record: Any) -> list[Any]:
        if isinstance(record, list):
            return record
        for key in self.keys:
            value = record
            for step in key.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, list) and value:
                return value
        return []

    def _as_chat_record(self, record: Any) -> Any:
        messages = self._messages(record)
        if not messages:
            return record
        chat = [chat for message in messages for chat in self._translate_any(message)]
        own = record if isinstance(record, dict) else {}
        return {**self.facts(own, messages), **own, "messages": chat}

    def _translate_any(self, message: Any) -> Iterable[dict[str, Any]]:
        """A message of another dialect stays as it is: records.py says what is wrong with it."""
        return self.translate(message) if self.is_message(message) else (message,)


def tool_message(call_id: object, content: object, *, error: object = None) -> dict[str, Any]:
    """A result as a chat message. `error` as in `Recorder.result`: True, False, or None where nothing says so."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, "is_error": error}


def call_entry(call_id: object, name: object, arguments: object) -> dict[str, Any]:
    """A call as an entry of a chat message's `tool_calls`."""
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}
