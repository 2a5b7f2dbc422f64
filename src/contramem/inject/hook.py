"""One hook for Claude Code and Codex: carries what they tell on standard input to a resident process, and answers.

A hook runs as a process of its own at every event, so this file imports next to nothing. Whatever goes wrong, the agent
goes on: exit 0, and the user, not the model, is told once a session what is broken.

    python -m contramem.inject.hook --bank bank.jsonl      as `contramem hook`, without its command line library
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import sleep, time
from typing import Any, NamedTuple

from contramem.errors import UsageError
from contramem.inject.hook_state import digest, private_folder, write_whole
from contramem.inject.switch import is_switched_off

START_S = 20
"""How long an event waits for the resident process to load the bank."""
ANSWER_S = 20
AGAIN_S = 300
"""A resident process that could not be started is tried again after this, or when the bank changes."""


class Hook(NamedTuple):
    """The options of the command. A NamedTuple here, for dataclasses load much more."""

    bank: str
    state: Path | None = None
    """Where the socket and notes about sessions are kept. None: a folder of this user in the system's temporary one."""
    profile: str | None = None
    log: Path | None = None
    """Inject log. A session is a run."""
    record: Path | None = None
    """File that sessions are recorded in, as traces that `contramem build` reads."""

    @property
    def arguments(self) -> list[str]:
        given = {"--bank": self.bank, "--state": self.state, "--profile": self.profile}
        given |= {"--log": self.log, "--record": self.record}
        return [str(word) for name, value in given.items() if value for word in (name, value)]


class HookPlace(NamedTuple):
    """The files of one setup: bank, as it is now, profile and log. Another bank is another setup."""

    folder: Path
    name: str

    @classmethod
    def of(cls, hook: Hook) -> HookPlace:
        try:
            bank = os.stat(hook.bank)  # noqa: PTH116 - one call, at every event
            version = f"{bank.st_mtime_ns} {bank.st_size}"
        except OSError:
            version = "absent"
        options = (hook.profile, hook.log, hook.record)
        parts = (Path(hook.bank).absolute(), version, *options, Path(__file__).stat().st_mtime_ns)
        return cls(hook.state or private_folder(), digest("\0".join(map(str, parts))))

    @property
    def socket(self) -> Path:
        return self.folder / f"hook-{self.name}.sock"

    @property
    def _problem(self) -> Path:
        return self.folder / f"problem-{self.name}.txt"

    def report(self, problem: str) -> None:
        """Say why the resident process is not there; empty when it is."""
        if problem:
            write_whole(self._problem, problem)
        else:
            self._problem.unlink(missing_ok=True)

    def problem(self) -> str:
        """Why the last start failed, if that was lately."""
        try:
            if time() - self._problem.stat().st_mtime > AGAIN_S:
                return ""
            return self._problem.read_text(encoding="utf-8")
        except OSError:
            return ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer one event. Never raises, and never ends with 2, which Claude Code and Codex take as an order to stop."""
    event: dict[str, Any] = {}
    try:
        hook = options_from(sys.argv[1:] if arguments is None else arguments)
        serve(hook, sys.stdin.read(), event)
    except Exception as error:
        complain(error)


def complain(error: Exception) -> None:
    print(f"contramem hook: {' '.join(str(error).split()) or type(error).__name__}", file=sys.stderr)


def serve(hook: Hook, text: str, event: dict[str, Any] | None = None) -> None:
    """Print the answer to an event, which is JSON; print nothing where there is nothing to say."""
    event = {} if event is None else event
    event.update(_parse(text))
    if is_switched_off():
        return
    place = HookPlace.of(hook)
    place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    answer = _ask(hook, place, text)
    if answer:
        print(answer)
    elif problem := place.problem():
        print(problem, file=sys.stderr)
        if _is_first(place, str(event.get("session_id", ""))):
            message = f"contramem gives no guidance in this session: {problem} (contramem hook status)"
            print(json.dumps({"systemMessage": message}))


def _parse(text: str) -> dict[str, Any]:
    event = json.loads(text)
    if not isinstance(event, dict):
        raise UsageError("what came on standard input is no hook event.")
    return event


def _ask(hook: Hook, place: HookPlace, event: str) -> str:
    """The answer of the resident process, which is started if it is not there. Empty: nothing, or none can be had."""
    answer = _exchange(place.socket, event)
    if answer is None and not place.problem():
        _start(hook, place)
        answer = _exchange(place.socket, event)
    return answer or ""


def _exchange(path: Path, event: str) -> str | None:
    """None: nobody listens there."""
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_S)
        try:
            connection.connect(str(path))
        except OSError:
            return None
        connection.sendall(event.encode("utf-8", "surrogatepass"))
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as reply:
            return reply.read().decode()


def _start(hook: Hook, place: HookPlace) -> None:
    """Start the resident process and wait until it listens, or has said why it cannot."""
    from subprocess import DEVNULL, Popen

    command = [sys.executable, "-m", "contramem.inject.hook_server", *hook.arguments]
    process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
    until = time() + START_S
    while time() < until and not place.socket.exists() and not place.problem():
        if process.poll() is not None and not place.socket.exists() and not place.problem():
            place.report(f"the process that holds the bank ended with {process.returncode}.")
        sleep(0.02)


def _is_first(place: HookPlace, session_id: str) -> bool:
    """Has this session not been told yet? Of several processes that ask at once, one is told so."""
    try:
        (place.folder / f"warned-{digest(place.name + session_id)}").open("x").close()
    except OSError:
        return False
    return True


def options_from(arguments: Sequence[str]) -> Hook:
    """The options of the command line."""
    values: dict[str, str] = {}
    words = list(arguments)
    while words:
        name = words.pop(0)
        if name == "--batches":  # written by older installs
            continue
        if name not in ("--bank", "--state", "--profile", "--log", "--record") or not words:
            raise UsageError(f"unknown option {name!r}, or it lacks its value.")
        values[name] = words.pop(0)
    if not values.get("--bank"):
        raise UsageError("name the bank with --bank.")
    files = (Path(values[name]) if values.get(name) else None for name in ("--state", "--log", "--record"))
    state, log, record = files
    return Hook(values["--bank"], state, values.get("--profile"), log, record)


if __name__ == "__main__":
    main()
