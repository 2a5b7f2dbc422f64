"""Guards: does each one parse, is it about things that exist, and do the runs of its packet support it?

A guard that fails is dropped and nothing else: what the author says in words may still be right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from contramem.bank.card import SkillDelta
from contramem.contrast.packet import Packet
from contramem.errors import GuardError
from contramem.guards.guard import Guard, parse_guard, suggest_full_names, suggest_name
from contramem.guards.packets import GuardReplay
from contramem.validate.case import Case
from contramem.validate.packet_contents import contents_of
from contramem.validate.verdict import Refusal


def refuse_guards(case: Case) -> Iterator[Refusal]:
    """A refusal for each guard of a text that must not enter a bank. Final refusals are those that no rewording can
    fix."""
    if not isinstance(case.text, SkillDelta):
        return
    functions = case.functions.union(*(contents.functions for contents in case.contents))
    for text in case.text.guards:
        try:
            guard = parse_guard(text)
        except GuardError as error:
            yield Refusal("guard", f"{error}{suggest_full_names(text, functions)}", text)
            continue
        if reason := _name_what_is_unknown(guard, functions, case):
            yield Refusal("guard", f"{text}: {reason}", text)
        elif reason := _find_unsupported(text, guard, case):
            yield Refusal("guard", f"{text}: {reason}", text, final=True)


def _find_unsupported(text: str, guard: Guard, case: Case) -> str:
    # Guards that a patch takes over from its delta or its targets are already supported by the runs behind those.
    if case.sources is not None and any(
        text in source.guards for source in case.sources if isinstance(source, SkillDelta)
    ):
        return ""
    if case.cites is None and case.sources is None:
        return ""
    reasons = (not_borne_out(replay_guard(guard, packet), packet) for packet in case.packets)
    return next((reason for reason in reasons if reason), "")


def replay_guard(guard: Guard, packet: Packet) -> GuardReplay:
    """How the runs of a packet follow and break a guard. Computed once per packet and guard."""
    return contents_of(packet).replay(guard, packet)


def not_borne_out(guard_replay: GuardReplay, packet: Packet) -> str:
    """Why the runs of a packet do not show that following the guard matters. Empty: they do."""
    if not packet.is_contrastive:
        ended = "passed" if packet.passing else "failed" if packet.failing else "ended without a known outcome"
        return f"every run of this task {ended}, so that nothing shows what keeping it is good for."
    if guard_replay.contradicts:
        against, all_passing = len(guard_replay.contradicted), len(guard_replay.contradicted) + len(guard_replay.held)
        return f"it is broken by passing runs too, by {against} of the {all_passing} that it speaks about."
    if not guard_replay.broken:
        return "no failing run breaks it, so that it does not tell failing runs from passing ones."
    if not guard_replay.held:
        return "no passing run shows that it can be kept."
    return "" if guard_replay.supports else "it is broken by passing runs as often as by failing ones."


def _name_what_is_unknown(guard: Guard, functions: Collection[str], case: Case) -> str:
    for function in guard.functions if functions else ():
        if function not in functions:
            return f"no run calls {function}.{suggest_name(function, functions)}"
    for function, argument in guard.arguments:
        given_arguments = {name for contents in case.contents for name in contents.arguments_of(function)}
        if given_arguments and argument not in given_arguments:
            return f"no call of {function} has an argument {argument}.{suggest_name(argument, given_arguments)}"
    return ""
