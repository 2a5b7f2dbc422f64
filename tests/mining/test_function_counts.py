"""On real runs: every number on a Function Card is what somebody would count who only has the runs."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from contramem.bank.card import FunctionCard
from contramem.collection.runs import Collection
from contramem.contrast.form import parse
from contramem.contrast.observation import by_function
from contramem.contrast.packet import packet_of
from contramem.contrast.vocabulary import Vocabulary, scalars
from contramem.mining.functions import Calls, build_function_card
from contramem.traces.effects import words
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Event, Trajectory

pytestmark = pytest.mark.slow  # seconds a test

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"

COUNTED = re.compile(r"in (\d+) of (\d+) calls")
MAY_BE_EMPTY = re.compile(r"may come back empty \((\d+) of (\d+) calls")
FIXED = re.compile(r"(changing|leaving out|adding) (.+?) worked in (\d+) of")
ORDER = re.compile(
    r"After `(.+?)` on the same `(.+?)` it was refused in (\d+) of (\d+).* against (\d+) of (\d+) otherwise"
)
TURNED = re.compile(r"After it, `(.+?)` on the same `(.+?)` was refused in (\d+) of (\d+)")
FIRST = re.compile(r"Call `(.+?)` first: .* refused in (\d+) of (\d+) calls.*, after it, in (\d+) of (\d+)\.$")
INSTEAD = re.compile(r"`([\w.]+)`, which also [^;]* in (\d+) of")
EMPTY = re.compile(r"When `(\w+)` had .*? empty in (\d+) of (\d+) calls, against (\d+) of (\d+)")
SAID = {
    "examples": (COUNTED, FIXED, FIRST),
    "tau_bench/retail.tar.xz": (COUNTED, FIXED, ORDER, TURNED, INSTEAD),
    "agentdojo/runs_no_attack.tar.xz": (COUNTED, MAY_BE_EMPTY, FIXED, EMPTY),
}


@pytest.fixture(scope="module", params=SAID)
def built(request):
    """A pool of real runs, its observations by function, and the card of each function."""
    where = EXAMPLES if request.param == "examples" else request.getfixturevalue("shared_data") / request.param
    with Collection(read_traces([where])) as found:
        pool = list(found)
    vocabulary = Vocabulary(pool)
    tools = {tool.function: tool for runs in pool for run in runs for tool in run.tools}
    packets = [packet_of(runs, vocabulary) for runs in pool]
    observations = by_function(packets)
    cards = {
        name: build_function_card(name, calls, tools.get(name), vocabulary) for name, calls in observations.items()
    }
    originals = {value for packet in packets for value in packet.placeholders.originals().values()}
    return pool, observations, {name: card for name, card in cards.items() if card}, tools, vocabulary, originals


def calls_in(pool: list[list[Trajectory]]) -> dict[str, list[Event]]:
    """The calls of each function straight from the runs, those with a known result."""
    found: dict[str, list[Event]] = {}
    for runs in pool:
        for run in runs:
            for event in run.events:
                if event.function and event.actor == "agent" and event.result is not None:
                    found.setdefault(event.function, []).append(event)
    return found


def lines(card: FunctionCard) -> list[str]:
    return [card.what_it_does, card.returns, card.side_effects, *card.usage_rules, *card.common_mistakes]


def test_what_is_checked_below_is_said_of_these_runs(built, request):
    said = [line for card in built[2].values() for line in lines(card)]
    for wording in SAID[request.node.callspec.params["built"]]:
        assert any(map(wording.search, said)), f"no card says this any more, so nothing checks it: {wording.pattern}"


def test_counts_agree_with_the_runs(built):
    pool, _, cards, *_ = built
    for name, events in calls_in(pool).items():
        if name not in cards:
            continue
        card, errors = cards[name], [event for event in events if event.result.error]
        told = [COUNTED.search(line) for line in card.common_mistakes if line[0] in '"A']
        told = [(int(count[1]), int(count[2])) for count in told if count]
        assert {of for _, of in told} <= {len(events)}, name
        assert sum(count for count, _ in told) <= len(errors), name
        if empty := MAY_BE_EMPTY.search(card.returns):
            kinds = Counter(parse(event.result.content).form.kind for event in events if not event.result.error)
            assert (int(empty[1]), int(empty[2])) == (kinds["empty"] + kinds["nothing"], kinds.total()), name


def test_need_agrees_with_the_runs(built):
    pool, _, cards, tools, *_ = built
    for name, events in calls_in(pool).items():
        worked = [event for event in events if not event.result.error]
        for shown in cards[name].arguments if name in cards else ():
            given = [event.arguments.get(shown.name) is not None for event in worked]
            if shown.required:
                assert all(given), (name, shown.name)
            elif shown.required is False:
                demanded = name in tools and shown.name not in tools[name].parameters.get("required", ())
                assert not all(given) or demanded, (name, shown.name)


def test_errors_that_a_fix_ended_agree_with_the_observations(built):
    _, observations, cards, *_ = built
    for name, card in cards.items():
        retries = Calls(name, observations[name]).retries
        fixes = [retry.changed for retry in retries if retry.first.error and not retry.then.error and retry.changed]
        for line in card.common_mistakes:
            for _, names, count in FIXED.findall(line):
                changed = set(re.findall(r"`(.+?)`", names))
                assert int(count) <= sum(changed <= fix for fix in fixes), line


def runs_with(pool: list[list[Trajectory]], function: str) -> list[list[Event]]:
    """The agent's calls in each run that calls a function."""
    made = [[e for e in run.events if e.function and e.actor == "agent"] for runs in pool for run in runs]
    return [calls for calls in made if any(event.function == function for event in calls)]


def named(function: str, name: str) -> str:
    return name if "." in name else f"{function.partition('.')[0]}.{name}"


def worked(event: Event) -> bool:
    return event.result is None or not event.result.error


def tried_on(calls: list[Event], function: str, value: object) -> list[Event]:
    return [e for e in calls if e.function == function and value in [v for _, v in scalars(e.arguments)]]


def refused(events: list[Event]) -> tuple[int, int]:
    return sum(not worked(event) for event in events), len(events)


def test_what_was_refused_after_another_call_on_the_same_thing_agrees_with_the_runs(built):
    pool, _, cards, *_ = built
    for name, card in cards.items():
        for other, argument, *counts in (m for rule in card.usage_rules for m in ORDER.findall(rule)):
            after, otherwise = [], []
            for calls in runs_with(pool, name):
                for n, event in enumerate(calls):
                    if event.function == name and argument in event.arguments and event.result is not None:
                        earlier = tried_on(calls[:n], named(name, other), event.arguments[argument])
                        (after if any(map(worked, earlier)) else otherwise).append(event)
            assert [*refused(after), *refused(otherwise)] == [int(count) for count in counts], (name, other)


def test_what_a_call_closes_agrees_with_the_runs(built):
    pool, _, cards, *_ = built
    for name, card in cards.items():
        for other, argument, *counts in (m for rule in card.usage_rules for m in TURNED.findall(rule)):
            following = []
            for calls in runs_with(pool, name):
                seen = set()
                for n, event in enumerate(calls):
                    value = event.arguments.get(argument)
                    if event.function == name and worked(event) and value not in seen:
                        seen.add(value)
                        following += tried_on(calls[n + 1 :], named(name, other), value)[:1]
            assert list(refused(following)) == [int(count) for count in counts], (name, other)


def test_what_has_to_be_called_first_agrees_with_the_runs(built):
    pool, _, cards, *_ = built
    for name, card in cards.items():
        for other, *counts in (m for rule in card.usage_rules for m in FIRST.findall(rule)):
            before, after = [], []
            for calls in runs_with(pool, name):
                for n, event in enumerate(calls):
                    if event.function == name and event.result is not None:
                        ready = any(e.function == named(name, other) and worked(e) for e in calls[:n])
                        (after if ready else before).append(event)
            assert [*refused(before), *refused(after)] == [int(count) for count in counts], (name, other)


def test_what_worked_instead_agrees_with_the_runs(built):
    pool, _, cards, *_ = built
    for name, card in cards.items():
        told = [found for line in card.common_mistakes for found in INSTEAD.findall(line)]
        for other, count in told:
            rescued = 0
            for calls in runs_with(pool, name):
                first = next((n for n, e in enumerate(calls) if e.function == named(name, other) and worked(e)), -1)
                for n, event in enumerate(calls[: max(first, 0)]):
                    again = any(e.function == name and worked(e) for e in calls[n:first])
                    rescued += event.function == name and not worked(event) and not again
            # A card counts the errors of one kind.
            assert int(count) <= rescued, (name, other)
            if len([line for line in card.common_mistakes if line[0] in '"A']) == 1:
                assert int(count) == rescued, (name, other)


def test_what_is_told_of_empty_results_agrees_with_the_observations(built):
    _, observations, cards, *_ = built
    for name, card in cards.items():
        text = " ".join(card.usage_rules)
        for argument, *counts in EMPTY.findall(text):
            empty: dict[bool, list[bool]] = {True: [], False: []}
            for call in (call for call in observations[name] if call.form is not None):
                if argument in call.origins and not call.error and call.arguments[argument] not in (None, "", []):
                    empty[call.origins[argument] == "nowhere"].append(call.form.kind in ("empty", "nothing"))
            found = [n for group in (empty[True], empty[False]) for n in (sum(group), len(group))]
            assert found == [int(count) for count in counts], name


def test_the_orders_that_refusals_prove_are_found(built):
    cards = built[2]
    if "retail.modify_pending_order_address" in cards:
        rules = " ".join(cards["retail.modify_pending_order_address"].usage_rules)
        assert "After `modify_pending_order_items` on the same `order_id` it was refused in 5 of 5 calls" in rules
        assert "`modify_pending_order_items` worked in 24 of 25: call this one first" in rules
        turned = " ".join(cards["retail.modify_pending_order_items"].usage_rules)
        assert "After it, `modify_pending_order_address` on the same `order_id` was refused in 5 of 5 calls" in turned
    if "TicketAPI.get_user_tickets" in cards:
        assert any(
            rule.startswith("Call `ticket_login` first") for rule in cards["TicketAPI.get_user_tickets"].usage_rules
        )


def test_the_order_of_observations_makes_no_difference(built):
    _, observations, cards, tools, vocabulary, _ = built
    for name, calls in observations.items():
        shuffled = random.Random(7).sample(calls, len(calls))
        assert build_function_card(name, shuffled, tools.get(name), vocabulary) == cards.get(name)


def test_no_card_holds_a_value_of_a_run_that_is_not_public_for_its_function(built):
    _, observations, cards, _, vocabulary, originals = built
    interface = {word for name in observations for word in words(name)} | set("true false name time first last".split())
    interface |= {
        word for calls in observations.values() for call in calls for name in call.arguments for word in words(name)
    }
    telling = {" ".join(value.lower().split()) for value in originals if re.search(r"[\d@]|\w\s+\w", value)}
    telling = {value for value in telling if len(value) > 3 and not interface.issuperset(words(value))}
    for card in cards.values():
        text = " ".join((*lines(card), *(f"{a.meaning} {a.form}" for a in card.arguments))).lower()
        own = (shared for (function, *_), shared in vocabulary.public.values.items() if function == card.tool)
        private = telling.difference(*own)
        leaked = [value for value in private if value in text and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)]
        assert not leaked, (card.tool, leaked)


def test_cards_are_about_the_tool_and_not_about_runs_models_or_verdicts(built):
    pool, _, cards, *_ = built
    sources = {run.source.lower() for runs in pool for run in runs}
    for card in cards.values():
        text = " ".join(lines(card)).lower()
        assert not re.search(r"\b(?:passing|passed|failing run|verifier|reward|judge|trajectory|model)\b", text), (
            card.tool
        )
        assert not [source for source in sources if source in text], card.tool


def test_cards_stay_short(built):
    for card in built[2].values():
        assert max(map(len, lines(card))) <= 600
        assert len(card.usage_rules) <= 6
        assert len(card.common_mistakes) <= 6


def test_the_shipped_runs_show_that_a_refused_call_works_after_signing_in():
    with Collection(read_traces([EXAMPLES])) as pool:
        runs = list(pool)
    vocabulary = Vocabulary(runs)
    name = "TicketAPI.get_user_tickets"
    card = build_function_card(name, by_function(packet_of(task, vocabulary) for task in runs)[name], None, vocabulary)
    assert any(
        line.startswith('"User not authenticated." in ') and "the same call worked after `ticket_login`" in line
        for line in card.common_mistakes
    )
