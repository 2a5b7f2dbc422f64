"""What one session of Claude Code or Codex was shown, as files. As light as the hook that asks before every call."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from contramem.errors import UsageError

Held: TypeAlias = Literal["first", "failed", "as_well"]
"""Why a call is held: the first of its function, the first after one failed, or in one reply with such a call."""

KEPT_S = 14 * 24 * 3600
"""State of sessions that nothing happened in for longer is cleared away."""
TURN_S = 60
"""Calls that come later than this after a held one are from another reply, whether or not the client said so."""


@dataclass(frozen=True)
class HookSession:
    """What one session of an agent was shown, as files: hooks of calls made at the same time are processes apart."""

    state: Path
    session_id: str
    agent_id: str = ""
    """A sub-agent has not read what the main agent has."""

    @classmethod
    def of(cls, state: Path | None, session_id: str, agent_id: str = "") -> HookSession:
        session = cls(state or _temporary(), session_id, agent_id)
        session._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return session

    @property
    def _folder(self) -> Path:
        return self.state / f"session-{digest(self.session_id + self.agent_id)}"

    def hold(self, card_id: str, batches: bool) -> Held | None:
        """Is a call of this card's function to be held, and with which text? Of several processes that ask at once, one
        is told to show the card."""
        mark = self._folder / f"held-{digest(card_id)}"
        if self._has_failed(card_id, batches):
            write_whole(mark, self._turn())
            return "failed"
        try:
            with mark.open("x", encoding="utf-8") as file:
                file.write(self._turn())
        except FileExistsError:
            return "as_well" if batches and self._is_of_this_turn(mark) else None
        return "first"

    def _is_of_this_turn(self, mark: Path) -> bool:
        # Marks are written once they exist: one that is empty is being written now.
        return mark.read_text(encoding="utf-8") in ("", self._turn()) and time.time() - mark.stat().st_mtime < TURN_S

    def _turn(self) -> str:
        try:
            return (self._folder / "turn").read_text(encoding="utf-8")
        except FileNotFoundError:
            return "the first"

    def end_turn(self) -> None:
        """The calls of a reply are over."""
        write_whole(self._folder / "turn", str(time.time_ns()))

    def note_failure(self, card_id: str | None) -> None:
        """A call of this card's function failed: the next one is held again."""
        if card_id is not None:
            write_whole(self._failure(card_id), self._turn())

    def _has_failed(self, card_id: str, batches: bool) -> bool:
        """Did a call fail before this reply? Of several processes that ask at once, one is told so."""
        failure = self._failure(card_id)
        try:
            if batches and failure.read_text(encoding="utf-8") == self._turn():
                return False
            failure.unlink()
        except FileNotFoundError:
            return False
        return True

    def _failure(self, card_id: str) -> Path:
        return self._folder / f"failed-{digest(card_id)}"

    def seen(self) -> set[str]:
        """Cards that were shown at prompts."""
        try:
            return set(json.loads((self._folder / "seen.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return set()

    def guidance(self) -> str:
        """What was last shown at a prompt."""
        try:
            return (self._folder / "guidance.txt").read_text(encoding="utf-8")
        except OSError:
            return ""

    def remember(self, text: str, seen: Iterable[str]) -> None:
        write_whole(self._folder / "guidance.txt", text)
        write_whole(self._folder / "seen.json", json.dumps(sorted(seen)))

    def clear_others(self) -> None:
        """Remove what old sessions and old banks left."""
        before = time.time() - KEPT_S
        for path in (*self.state.glob("session-*"), *self.state.glob("deck-*.json")):
            if path != self._folder and path.lstat().st_mtime < before:
                if path.is_dir():
                    for file in path.iterdir():
                        file.unlink(missing_ok=True)
                    path.rmdir()
                else:
                    path.unlink(missing_ok=True)


def _temporary() -> Path:
    """A folder that only this user can write: what stands in it is shown to agents."""
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"contramem-hook-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if hasattr(os, "getuid") and (not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o022):
        raise UsageError(f"{folder}: others can write here. Choose a folder of your own with --state.")
    return folder


def write_whole(path: Path, text: str) -> None:
    """The whole file or none: another process may be reading it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
