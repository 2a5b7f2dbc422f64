"""What a hook was told on its command line, and the files it keeps: in a folder that only this user can write.

Every event loads this file, so it imports little.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import time

from contramem.errors import UsageError

KEPT_S = 3 * 24 * 3600
"""Files that nothing happened to for longer are cleared away."""
AGAIN_S = 300
"""A setup that did not work is tried again after this, or when the bank changes."""
START_S = 60
"""A resident process that does not listen after this is started again."""
_FILES = ("--state", "--log", "--record")


class HookOptions:
    """The options of the command. A plain class: `typing` and `dataclasses` would double what an event costs."""

    def __init__(
        self,
        bank: str,
        state: Path | None = None,
        profile: str | None = None,
        log: Path | None = None,
        record: Path | None = None,
    ) -> None:
        """`state` is where the hook keeps its files; None is a private folder of this user. `log` is an inject log, in
        which a session is a run. `record` is a file that sessions are recorded in, as traces that `contramem build`
        reads."""
        self.bank, self.state, self.profile, self.log, self.record = bank, state, profile, log, record

    @classmethod
    def parse(cls, arguments: Sequence[str]) -> HookOptions:
        """The options of a command line."""
        values: dict[str, str] = {}
        words = list(arguments)
        while words:
            name = words.pop(0)
            if name == "--batches":  # written by older installs
                continue
            if name not in ("--bank", "--profile", *_FILES) or not words:
                raise UsageError(f"unknown option {name!r}, or it lacks its value.")
            values[name] = words.pop(0)
        if not values.get("--bank"):
            raise UsageError("name the bank with --bank.")
        state, log, record = (Path(values[name]) if values.get(name) else None for name in _FILES)
        return cls(values["--bank"], state, values.get("--profile"), log, record)

    @property
    def arguments(self) -> list[str]:
        given = {"--bank": self.bank, "--state": self.state, "--profile": self.profile}
        given |= {"--log": self.log, "--record": self.record}
        return [str(word) for name, value in given.items() if value for word in (name, value)]


class HookPlace:
    """The files of one setup: bank, as it is now, profile and log. Another bank is another setup."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    @classmethod
    def of(cls, options: HookOptions) -> HookPlace:
        try:
            bank = os.stat(options.bank)  # noqa: PTH116 - one call, at every event
            version = f"{bank.st_mtime_ns} {bank.st_size}"
        except OSError:
            version = "absent"
        parts = (Path(options.bank).absolute(), version, options.profile, options.log, options.record)
        code = Path(__file__).stat().st_mtime_ns
        place = cls(options.state or private_folder(), _digest("\0".join(map(str, (*parts, code)))))
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    @property
    def address(self) -> Path:
        """Where the resident process says how it can be reached."""
        return self.folder / f"address-{self.name}"

    @property
    def counts(self) -> Path:
        """The tokens of texts that were shown."""
        return self.folder / "tokens"

    @property
    def _starting(self) -> Path:
        return self.folder / f"starting-{self.name}"

    @property
    def _problem(self) -> Path:
        return self.folder / f"problem-{self.name}.txt"

    def journal(self, session_id: str) -> Path:
        return self.folder / f"session-{_digest(self.name + session_id)}.jsonl"

    def claim_start(self) -> bool:
        """Is it for this process to start the resident one? Of several that ask at once, one is told so."""
        if self.start_age() > START_S:
            self._starting.unlink(missing_ok=True)
        return _create(self._starting)

    def start_age(self) -> float:
        """How many seconds ago a start was claimed."""
        return time() - _changed(self._starting)

    def end_start(self) -> None:
        """The resident process listens, or has ended."""
        self._starting.unlink(missing_ok=True)

    def report(self, problem: str) -> None:
        """Say why there is no guidance at all; empty when there is."""
        if problem:
            write_whole(self._problem, problem)
        else:
            self._problem.unlink(missing_ok=True)

    def problem(self) -> str:
        """Why there is no guidance, if that was found out lately."""
        if time() - _changed(self._problem) > AGAIN_S:
            return ""
        try:
            return self._problem.read_text(encoding="utf-8")
        except OSError:
            return ""

    def is_first_warning(self, session_id: str) -> bool:
        """Has this session not been told yet? Of several processes that ask at once, one is told so."""
        return _create(self.folder / f"warned-{_digest(self.name + session_id)}")

    def clear_old(self) -> None:
        """Remove what old sessions and old banks left."""
        before = time() - KEPT_S
        for kind in ("address-*", "hook-*", "problem-*", "session-*", "starting-*", "tokens", "warned-*"):
            for path in self.folder.glob(kind):
                if _changed(path) < before:
                    path.unlink(missing_ok=True)


def private_folder() -> Path:
    """A folder of this user. What stands in it is shown to agents, so nobody else may write there."""
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "contramem-hook"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    user = os.getuid()
    # As tempfile.gettempdir, which loads a dozen modules.
    folder = Path(os.environ.get("TMPDIR") or "/tmp") / f"contramem-hook-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o022:
        raise UsageError(f"{folder}: others can write here. Choose a folder of your own with --state.")
    return folder


def write_whole(path: Path, text: str) -> None:
    """The whole file or none, and for this user only: another process may be reading it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def _create(path: Path) -> bool:
    """False when it is there already."""
    try:
        path.open("x").close()
    except OSError:
        return False
    return True


def _changed(path: Path) -> float:
    """When a file was last changed; long ago if it is not there."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
