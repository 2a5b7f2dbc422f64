"""TaskKey: what makes two runs attempts at the same task. Stores and reports keep it as a line of text."""

from __future__ import annotations

import re
from typing import NamedTuple

_WRITTEN = re.compile(r"(?P<task>.*?)(?:#(?P<text>[0-9a-f]{6}))?", re.DOTALL)


class TaskKey(NamedTuple):
    """Environment and id of a task and, where its text was authored, the digest of the text."""

    task: str
    """`environment/id`."""
    text: str = ""
    """Six hexadecimal digits: another text under the same id is another task. Empty: any text is the same task."""

    def __str__(self) -> str:
        return f"{self.task}#{self.text}" if self.text else self.task

    @classmethod
    def parse(cls, written: str) -> TaskKey:
        """The key that was written so. A `#` inside an id stays part of the id."""
        match = _WRITTEN.fullmatch(written)
        assert match is not None, written
        return cls(match["task"], match["text"] or "")

    def is_named(self, name: str) -> bool:
        """Does a person who writes `name` mean this task: its key or its id, with or without what stands before it?"""
        return any(f"/{written}".endswith(f"/{name}") for written in (str(self), self.task))
