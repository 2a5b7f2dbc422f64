"""One hook for Claude Code and Codex: what they tell on standard input, answered with guidance on standard output.

A prompt is answered with the cards that fit it. The first call of a function in a session is held, with the card as the
reason, where the profile says so, and again after a call of it failed. A hook runs as a process of its own before every
tool call, so this file imports next to nothing: what the cards of a bank say before a call is written down once (the
deck) and looked up from then on.

    python -m contramem.inject.hook --bank bank.jsonl      as `contramem hook`, without its command line library
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contramem.errors import UsageError
from contramem.inject.hook_session import Held, HookSession, digest, write_whole
from contramem.inject.switch import switched_off

if TYPE_CHECKING:
    from contramem.inject.guidance import Guidance
    from contramem.inject.run import Memory
    from contramem.retrieve.profiles import Profile

DECK_FORMAT = 2


@dataclass(frozen=True)
class Hook:
    """The options of the command."""

    bank: str
    state: Path | None = None
    """Where sessions and decks are kept. None: a folder of this user in the system's temporary one."""
    profile: str | None = None
    log: Path | None = None
    """Inject log. A session is a run."""
    batches: bool = False
    """The client tells when the calls of a reply are over (PostToolBatch). Then those of one function are held
    together: the model had not read the card when it made the second."""
    record: Path | None = None
    """File that sessions are recorded in, as traces that `contramem build` reads."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer one event. Whatever goes wrong ends in one line on standard error and exit 0: a hook that fails must not
    stop the agent, and exit 2 would."""
    try:
        serve(_options(sys.argv[1:] if arguments is None else arguments), sys.stdin.read())
    except Exception as error:
        complain(error)


def complain(error: Exception) -> None:
    print(f"contramem hook: {' '.join(str(error).split()) or type(error).__name__}", file=sys.stderr)


def serve(hook: Hook, event: str) -> None:
    """Print the answer to `event`, which is JSON; print nothing where there is nothing to say."""
    fields = json.loads(event)
    if not isinstance(fields, dict):
        raise UsageError("what came on standard input is no hook event.")
    reply = answer(hook, fields)
    if reply:
        print(json.dumps({"hookSpecificOutput": {"hookEventName": fields["hook_event_name"], **reply}}))


def answer(hook: Hook, event: dict[str, Any]) -> dict[str, str] | None:
    """What to say to an event; None for nothing, which leaves a call to the client's own permissions."""
    name = event.get("hook_event_name")
    if hook.record is not None and name in ("PostToolUse", "PostToolUseFailure"):
        _record_call(hook.record, event)
    if switched_off():
        return None
    session = HookSession.of(hook.state, str(event.get("session_id", "")), str(event.get("agent_id") or ""))
    if name == "PreToolUse":
        return _before_call(hook, session, str(event.get("tool_name", "")))
    if name == "PostToolUseFailure" and not event.get("is_interrupt"):
        session.note_failure(_deck(hook, session.state)["names"].get(event.get("tool_name")))
    if name == "PostToolBatch":
        session.end_turn()
    if name == "UserPromptSubmit":
        return _context(_for_prompt(hook, session, str(event.get("prompt", ""))))
    if name == "SessionStart":
        session.clear_others()
        _deck(hook, session.state)
        # A compacted conversation has lost what it was shown.
        return _context(session.guidance() if event.get("source") == "compact" else "")
    return None


def _context(text: str) -> dict[str, str] | None:
    return {"additionalContext": text} if text else None


def _before_call(hook: Hook, session: HookSession, tool: str) -> dict[str, str] | None:
    deck = _deck(hook, session.state)
    card_id = deck["names"].get(tool)
    held = session.hold(card_id, hook.batches) if card_id else None
    if card_id is None or held is None:
        return None
    text = deck["cards"][card_id][held]
    if hook.log and held != "as_well":
        _note(hook.log, session.session_id, card_id, text, deck)
    return {"permissionDecision": "deny", "permissionDecisionReason": text["text"]}


def _for_prompt(hook: Hook, session: HookSession, prompt: str) -> str:
    """Guidance for a prompt, without the cards that this session has seen."""
    from dataclasses import replace

    memory = _memory(hook)
    run = memory.start(prompt, run_id=session.session_id, profile=hook.profile)
    _deck(hook, session.state, memory)  # so that the first call finds it
    seen = session.seen()
    retrieval = run.retrieval
    if retrieval is None or not seen:
        guidance = run.guidance
    else:
        skills = tuple(hit for hit in retrieval.skills if hit.card.card_id not in seen)
        functions = tuple(hit for hit in retrieval.functions if hit.card.card_id not in seen)
        guidance = memory.writer.at_start(replace(retrieval, skills=skills, functions=functions), run.profile)
    if guidance:
        session.remember(guidance.text, seen | set(guidance.card_ids))
    return guidance.text


def _deck(hook: Hook, state: Path, memory: Memory | None = None) -> dict[str, Any]:
    """What to say before the first call of each function, by every name that it goes by."""
    path = state / f"deck-{digest(_version(hook))}.json"
    try:
        deck: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        deck = _write_deck(hook, memory or _memory(hook))
        write_whole(path, json.dumps(deck))
    return deck


def _version(hook: Hook) -> str:
    """Changes with the bank, the profile and the wording of this version of contramem."""
    try:
        bank = os.stat(hook.bank)  # noqa: PTH116 - one call, before every call of the agent
    except OSError as error:
        raise UsageError(f"{hook.bank}: the bank cannot be read ({error.strerror}).") from error
    here = Path(__file__).parent
    wording = [(here / folder).stat().st_mtime_ns for folder in ("prompts", "adapters/prompts")]
    parts = (DECK_FORMAT, Path(hook.bank).absolute(), bank.st_mtime_ns, bank.st_size, hook.profile, *wording)
    return "\0".join(map(str, parts))


def _write_deck(hook: Hook, memory: Memory) -> dict[str, Any]:
    from contramem.inject.adapters.guided_run import held_text
    from contramem.inject.run import shows_before_call

    profile = _profile(hook, memory)
    cards: dict[str, dict[Held, dict[str, Any]]] = {}
    for card in (card for card in memory.bank.functions if shows_before_call(card, profile)):
        texts: dict[Held, Guidance] = {
            "first": memory.writer.before_call(card, profile),
            "failed": memory.writer.before_call(card, profile, failed=True),
        }
        if all(texts.values()):
            cards[card.card_id] = {
                kind: {"text": held_text(card.tool, reply.text), "tokens": reply.tokens, "own": reply.card_tokens[0]}
                for kind, reply in texts.items()
            }
            cards[card.card_id]["as_well"] = {"text": held_text(card.tool)}
    names = {name: card.card_id for name, card in memory.retriever.names.spelled() if card.card_id in cards}
    header = memory.bank.header
    return {"names": names, "cards": cards, "bank": header.content_sha256[:12], "profile": profile.name}


def _memory(hook: Hook) -> Memory:
    from contramem.inject.loaded_bank import bank_at
    from contramem.inject.run import Memory

    return Memory(bank_at(hook.bank), log=hook.log, record=hook.record)


def _record_call(record: Path, event: dict[str, Any]) -> None:
    """A call that was made. The session's prompt began the recording of its run."""
    from contramem.inject.recording import RunRecording
    from contramem.traces.normalize import Naming, Recorder

    recorder = Recorder(Naming("hook"))
    recorder.call(str(event.get("tool_name") or "unnamed"), event.get("tool_input"))
    failed = event.get("hook_event_name") == "PostToolUseFailure"
    content = event.get("error") if failed else event.get("tool_response")
    recorder.result(content, error=True if failed else None)
    for made in recorder.events():
        RunRecording(record).event(str(event.get("session_id", "")), made)


def _profile(hook: Hook, memory: Memory) -> Profile:
    from contramem.retrieve.profiles import profile_named

    return profile_named(hook.profile or memory.bank.header.profile)


def _note(log: Path, session_id: str, card_id: str, shown: dict[str, Any], deck: dict[str, Any]) -> None:
    from contramem.inject.log import FORMAT, InjectLog, Line

    into = InjectLog(log)
    line = Line(
        FORMAT,
        time=into.now(),
        run=session_id,
        task="",  # a session knows its prompts, not which of them a call is for
        where="before_call",
        cards={card_id: shown["own"]},
        tokens=shown["tokens"],
        bank=deck["bank"],
        profile=deck["profile"],
    )
    into.append(line)


def _options(arguments: Sequence[str]) -> Hook:
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="contramem hook", exit_on_error=False)
    for name in ("--bank", "--state", "--profile", "--log", "--record"):
        parser.add_argument(name)
    parser.add_argument("--batches", action="store_true")
    options, unknown = parser.parse_known_args(arguments)
    if unknown or not options.bank:
        raise UsageError(f"unknown option {unknown[0]!r}." if unknown else "name the bank with --bank.")
    folder, log = options.state and Path(options.state), options.log and Path(options.log)
    record = options.record and Path(options.record)
    return Hook(options.bank, folder, options.profile, log, options.batches, record)


if __name__ == "__main__":
    main()
