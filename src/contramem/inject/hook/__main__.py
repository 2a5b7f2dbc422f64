"""Answers an event if no resident process does: starts one and asks it, or answers itself.

Whatever goes wrong, the agent continues: the exit code is 0, and the user (not the model) is told once per session what
is broken. A resident process that is late or cannot be started costs time, but never the guidance.

    python -m contramem.inject.hook --bank bank.jsonl      as `contramem hook`, without its command line library
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import sleep

from contramem.errors import UsageError
from contramem.inject.hook.client import REFUSED, ask, read_message
from contramem.inject.hook.place import HookOptions, HookPlace
from contramem.inject.switch import is_switched_off

WAIT_S = 3.0
"""How long to wait for the resident process after its start."""
LOOK_S = 0.02


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer one event. Never raises, and never exits with 2, which Claude Code and Codex treat as a block."""
    try:
        serve(HookOptions.parse(sys.argv[1:] if arguments is None else arguments), read_message())
    except Exception as error:
        complain(error)


def complain(error: Exception) -> None:
    print(f"contramem hook: {' '.join(str(error).split()) or type(error).__name__}", file=sys.stderr)


def serve(options: HookOptions, message: bytes) -> None:
    """Print the answer to an event as JSON; print nothing if there is nothing to say. `message` is what `read_message`
    returns."""
    if is_switched_off():
        return
    place = HookPlace.of(options)
    answer = _ask_resident(options, place, message)
    if answer is None:
        answer = _answer_here(options, place, message)
    if answer.startswith(REFUSED):
        raise UsageError(answer[len(REFUSED) :].decode())
    if answer:
        print(answer.decode())


def _ask_resident(options: HookOptions, place: HookPlace, message: bytes) -> bytes | None:
    """The answer of the resident process, which is started if needed. None if it is not ready in time."""
    answer = ask(place.address, message)
    if answer is not None or place.problem():
        return answer
    if place.claim_start():
        _start(options)
    while answer is None and place.start_age() < WAIT_S and not place.problem():
        sleep(LOOK_S)
        answer = ask(place.address, message)
    return answer


def _start(options: HookOptions) -> None:
    """Start the resident process without waiting for it."""
    from contextlib import suppress
    from subprocess import DEVNULL, Popen

    command = [sys.executable, "-m", "contramem.inject.hook.server", *options.arguments]
    with suppress(OSError):
        Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)


def _answer_here(options: HookOptions, place: HookPlace, message: bytes) -> bytes:
    """Answer without a resident process, by loading the bank and the session for this one event."""
    if not place.problem():
        from contramem.inject.hook.server import answer_alone

        answer = answer_alone(options, place, message)
        if answer is not None:
            return answer
    return _warn(place, message)


def _warn(place: HookPlace, message: bytes) -> bytes:
    """A message to the user, once per session."""
    import json

    problem = place.problem()
    print(problem, file=sys.stderr)
    event = json.loads(message.partition(b"\n")[2])
    if not place.is_first_warning(str(event.get("session_id", ""))):
        return b""
    warning = f"contramem gives no guidance in this session: {problem} (contramem hook status)"
    return json.dumps({"systemMessage": warning}).encode()


if __name__ == "__main__":
    main()
