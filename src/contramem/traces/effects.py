"""The effect of a call (read, write, wait or finalize), inferred from its name and documentation.

Annotations in a trace win over this, and a user's file wins over both (`--effects FILE`, docs/formats.md).
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

from contramem.errors import UsageError
from contramem.traces.trajectory import Effect

# Verbs, not function names: a lexicon of words also works for tools not seen yet.
LEXICON: dict[Effect, frozenset[str]] = {
    "read": frozenset(
        """get list search find read view show check count fetch lookup look query describe display inspect retrieve
        browse calculate compute compare estimate think know analyze analyse filter preview is has can exists
        available validate verify test diff grep cat ls pwd head tail wc du stat status summarize summarise cd
        transcribe translate convert parse glob open load history last current whoami locate select sort min max mean
        sum average total match detect""".split()
    ),
    "write": frozenset(
        """acknowledge acquire activate add adjust admit allocate amend append apply appoint approve archive assign
        attach authorise authorize backup block book buy cancel certify change charge clear click close commit
        compensate complete confirm connect copy cordon cp craft create deactivate debit decline decrease defer
        delete deny deploy deposit designate detach disable discharge discard disconnect dismiss dispatch dispose
        download draft drag drain echo edit enable enrol enroll equip erase escalate evict exchange execute
        exempt expedite expel extend fill follow forward freeze fulfil fulfill fund grant hire import impose
        increase inform initiate insert install instruct invite join kick kill launch lend like lock log login
        logout make mark mention merge migrate mkdir modify mount move mute mv nominate notify order overrule
        patch pay penalize pin place plot post postpone prescribe press prioritize provide provision publish
        purchase put quarantine raise reactivate reassign reboot reclassify record redeem redirect redo refer refuel
        refund refuse register reimburse reinstate reject release relocate remind remove rename renew reopen
        replace reply report repost reroute rerun reschedule rescind reseat reserve reset resolve restart
        restore resume retire return retweet reverse revoke rm rollback rotate run save scale schedule sell send
        set settle share sign start stop submit subscribe suspend swap sync tag terminate toggle touch transfer
        trash trigger turn tweet unassign unblock uncordon undo unfollow unfreeze uninstall unlink unlock
        unmount unmute unpin unsubscribe update upgrade upload use vacate void vote waive warn withdraw write""".split()
    ),
    "wait": frozenset("wait sleep pause".split()),
    "finalize": frozenset("finish finalize finalise done".split()),
}

# Verbs that depend on their object: opening a file reads it, opening a ticket creates one.
LOOKED_AT = frozenset(
    """app application archive article attachment book browser channel chat conversation directory doc document email
    file folder image inbox item link mail mailbox map message note notebook page pdf photo picture post profile
    screen setting sheet site spreadsheet tab thread url video web webpage website window""".split()
)
# These may also be nouns (`file_size`, `issue_tracker`).
MADE_BY: dict[str, frozenset[str]] = {
    "file": frozenset("appeal bug case claim complaint dispute grievance issue report request return ticket".split()),
    "issue": frozenset(
        "card certificate cheque credit invoice license order pass payment receipt refund ticket voucher".split()
    ),
}

# Names that end a run in common harnesses; their verbs alone would be misleading.
FINALIZERS = frozenset(
    {
        "final_answer",
        "complete_task",
        "submit",
        "submit_answer",
        "task_completed",
        "attempt_completion",
        "final_response",
    }
)

# Documentation that opens so tells of a change, whatever the name says: `get_quote` may create one.
_TELLS_OF_CHANGE = frozenset(
    """add assign book buy cancel close create delete insert modify move pay post purchase register remove rename
    replace reserve send update""".split()
)

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_FIRST_WORD = re.compile(r"\W*([A-Za-z]+)")
_BY_VERB: dict[str, Effect] = {verb: effect for effect, verbs in LEXICON.items() for verb in verbs}


def words(name: str) -> list[str]:
    """`sendEmail`, `send_email` and `Send-Email` all give send, email."""
    return [*_split(name)]


@lru_cache(maxsize=8192)  # the same few names stand in every run
def _split(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=4096)
def effect_of(function: str, description: str = "") -> Effect:
    """The effect of `App.function`, or `unknown` when neither name nor description has a verb we know.

    The first known verb of the name decides (`get_and_reset_counter` is rare, `check_order_update_status` is not),
    except that documentation which opens with a change makes a write of what a name calls a read.
    """
    name = function.rpartition(".")[2]
    if name.lower() in FINALIZERS:
        return "finalize"
    named = words(name)
    if (first := _effect_of_making(named)) is not None:
        return first
    by_name = next((effect for word in named if (effect := _effect_of_word(word))), None)
    if by_name is not None and by_name != "read":
        return by_name
    # Documentation opens with its verb, often in the third person: "Returns the ...", "Deletes a ...".
    opening = _FIRST_WORD.match(description)
    verb = opening.group(1).lower() if opening else ""
    if by_name is not None:
        return "write" if _tells_of_change(verb, named) else "read"
    if verb in ("return", "returns"):  # of a function "returns" is what it gives; only in a name is it an act
        return "read"
    effects = (_BY_VERB.get(form) for form in _verb_forms(verb))
    return next((effect for effect in effects if effect in ("read", "write")), "unknown")


def _effect_of_word(word: str) -> Effect | None:
    """Of a verb, or of a verb and what it is about in one word: `createfile`."""
    if word in _BY_VERB:
        return _BY_VERB[word]
    about = max((noun for noun in LOOKED_AT if word.endswith(noun)), key=len, default="")
    return _BY_VERB.get(word.removesuffix(about)) if about else None


def _tells_of_change(opening: str, named: list[str]) -> bool:
    """Whether documentation opens with a change. A word that the name reads is a noun: `get_book`, "Book by its id"."""
    forms = _verb_forms(opening)
    is_noun = any(
        read not in ("and", "or") and not set(_verb_forms(word)).isdisjoint(forms) for read, word in pairwise(named)
    )
    return not is_noun and not _TELLS_OF_CHANGE.isdisjoint(forms)


def _verb_forms(verb: str) -> tuple[str, ...]:
    return verb, verb.removesuffix("s"), verb.removesuffix("es")


def _effect_of_making(named: list[str]) -> Effect | None:
    """Of a name that begins with a verb that may make something, and says what; None for any other name."""
    verb, about = (*named, "")[0], {_singular(word) for word in named[1:]}
    if verb == "open" and about:
        return "write" if LOOKED_AT.isdisjoint(about) else "read"
    if about & MADE_BY.get(verb, frozenset()) or (verb in ("raise", "lodge") and about):
        return "write"
    if verb == "process" and about and about.isdisjoint(LEXICON["read"] | LOOKED_AT):
        return "write"  # `process_refund` gives money back; `process_list` is of what runs on a machine
    return None


def _singular(word: str) -> str:
    return word.removesuffix("s")


def read_effects(path: Path) -> dict[str, Effect]:
    """A user's own effects: a TOML table of `"App.function" = "read"`, or of a bare function name for any app."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read as a TOML table of effects ({why}).") from None
    for function, effect in table.items():
        if effect not in get_args(Effect):
            allowed = ", ".join(get_args(Effect))
            raise UsageError(f"{path}: {function!r} has effect {effect!r}; it must be one of {allowed}.")
    return table
