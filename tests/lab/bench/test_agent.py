"""The agent loop with scripted targets: what reaches the target, what ends a run, and the trace it leaves."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.lab.bench.small_world import House
from tests.lab.bench.soundness import find_unsolved_tasks, idle_tasks, replay_solution

from contramem.cli import cli
from contramem.errors import UsageError
from contramem.inject.guidance import Guidance
from contramem.inject.provider import TextMemory
from contramem.retrieve.hit import Query
from contramem.traces.read import read_traces
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Tool
from contramem.traces.write import write_traces
from contramem_lab.agent import attempt, spellings
from contramem_lab.environment import Limits
from contramem_lab.memory import ceiling, wrong_card
from contramem_lab.opened import RunnableTask
from contramem_lab.target import AgentReply, ChatMessage, ScriptedTarget, ToolCall, WindowFullError

LIST = ToolCall("list_lamps")
ON = ToolCall("switch_on", {"lamp": "hall lamp"})
OFF = ToolCall("switch_off", {"lamp": "hall lamp"})


class Listening(ScriptedTarget):
    """Plays its moves and keeps what it was told before each of them."""

    def __init__(self, *moves):
        self.heard: list[tuple[ChatMessage, ...]] = []
        self.had: list[list[str]] = []
        left = iter(moves)

        def policy(messages, tools):
            self.heard.append(tuple(messages))
            self.had.append([tool.function for tool in tools])
            return next(left, "done")

        super().__init__(policy)


class Advice:
    """A memory with one text at the start and one before the first call of `switch_on`."""

    def __init__(self):
        self.begun: tuple[Query, str] | None = None
        self.observed, self.finished = [], []
        self.guidance = Guidance("LOOK FIRST", 2, "o200k", ("skill-1",))
        self._cards = {"house.switch_on": Guidance("NAMES ARE EXACT", 3, "o200k", ("function::house.switch_on",))}

    def begin(self, query, *, run_id=None):
        self.begun = query, run_id
        return self

    def before_call(self, function, arguments=None):
        return self._cards.pop(function, None)

    def observe(self, event):
        self.observed.append(event)

    def finish(self, outcome=None):
        self.finished.append(outcome)


def test_a_target_that_does_what_the_task_asks_passes():
    run = attempt(House(), "hall", ScriptedTarget.playing([LIST, ON, "It is on."]), source="scripted-1", trial="3")
    assert (run.outcome.passed, run.outcome.ended, run.source, run.run) == (True, "complete", "scripted-1", "3")
    assert [(event.actor, event.kind, event.function) for event in run.events] == [
        ("user", "message", ""),
        ("agent", "call", "house.list_lamps"),
        ("agent", "call", "house.switch_on"),
        ("agent", "final", ""),
    ]
    assert (run.environment, run.task_id, run.ability, run.scenario_id) == ("house", "hall", "light", "one lamp")
    assert (run.usage.model_calls, run.guidance) == (3, ())
    assert run.usage.tokens_in and run.usage.tokens_out


def test_the_verdict_may_depend_on_the_answer():
    assert attempt(House(), "report", ScriptedTarget.playing([LIST, "There are 2."])).outcome.passed is True
    assert attempt(House(), "report", ScriptedTarget.playing([LIST, "There are some."])).outcome.passed is False


def test_each_turn_of_the_user_is_answered_and_functions_arrive_when_they_should():
    target = Listening(ON, "On.", OFF, "Off.")
    run = attempt(House(), "twice", target)
    assert run.outcome.passed is True
    assert ["switch_off" in names for names in target.had] == [False, False, True, True]
    assert [event.text for event in run.events if event.actor == "user"] == [
        "Switch the hall lamp on.",
        "And off again.",
    ]


def test_what_the_environment_says_of_its_user_is_in_the_system_message():
    target = Listening("2")
    attempt(House(), "report", target)
    assert target.heard[0][0].role == "system"
    assert target.heard[0][0].text.startswith("You work for Ada.")


class TestMemory:
    def test_a_memory_gets_the_task_and_speaks_at_the_start_and_before_calls(self):
        memory, target = Advice(), Listening(LIST, ON, ON, "done")
        attempt(House(), "hall", target, memory)
        query = memory.begun[0]
        assert (query.task, query.task_id) == ("Switch the lamp in the hall on.", "hall")
        assert query.scenario_id == "one lamp"
        assert "house.switch_on" in query.functions
        first = target.heard[0][-1]
        assert first.role == "user"
        assert first.text.index("LOOK FIRST") < first.text.index("Switch the lamp in the hall on.")
        assert not any("NAMES ARE EXACT" in message.text for message in target.heard[1])
        assert "NAMES ARE EXACT" in target.heard[2][-1].text

    def test_a_held_call_is_not_made_and_no_event_and_the_agent_decides_again(self):
        memory = Advice()
        run = attempt(House(), "hall", ScriptedTarget.playing([ON, "I leave it."]), memory)
        assert run.outcome.passed is False
        assert run.calls == ()
        assert memory.observed == []
        run = attempt(House(), "hall", ScriptedTarget.playing([ON, ON, "done"]), Advice())
        assert run.outcome.passed is True
        assert [event.function for event in run.calls] == ["house.switch_on"]
        assert run.usage.model_calls == 3

    def test_two_calls_of_one_function_in_one_reply_are_both_held(self):
        other = ToolCall("switch_on", {"lamp": "desk lamp"})
        target = Listening(AgentReply(calls=(ON, other)), "done")
        run = attempt(House(), "hall", target, Advice())
        assert run.calls == ()
        assert [message.role for message in target.heard[1][-2:]] == ["tool", "tool"]

    def test_a_memory_observes_calls_with_their_results_and_gets_the_outcome(self):
        memory = Advice()
        attempt(House(), "hall", ScriptedTarget.playing([LIST, ON, ON, "done"]), memory)
        assert [(event.function, event.effect) for event in memory.observed] == [
            ("house.list_lamps", "read"),
            ("house.switch_on", "unknown"),
        ]
        assert memory.observed[0].result.content == ["hall lamp", "desk lamp"]
        assert [outcome.passed for outcome in memory.finished] == [True]

    def test_guidance_is_in_the_trace_but_not_in_its_events(self):
        run = attempt(House(), "hall", ScriptedTarget.playing([LIST, ON, ON, "done"]), Advice())
        assert [(shown.before, shown.text, shown.function, shown.cards, shown.tokens) for shown in run.guidance] == [
            (0, "LOOK FIRST", "", ("skill-1",), 2),
            (2, "NAMES ARE EXACT", "house.switch_on", ("function::house.switch_on",), 3),
        ]
        written = "".join(f"{event.text} {event.result}" for event in run.events)
        assert "LOOK FIRST" not in written
        assert "NAMES ARE EXACT" not in written

    def test_a_memory_in_tool_descriptions_holds_no_call(self):
        said: list[str] = []

        def policy(messages, tools):
            said.append(next(tool.description for tool in tools if tool.function == "switch_on"))
            return [ON, "done"][len(said) - 1]

        run = attempt(House(), "hall", ScriptedTarget(policy), Advice(), cards="describe")
        assert (run.outcome.passed, run.usage.model_calls) == (True, 2)
        assert said[0] == "Switch a lamp on. NAMES ARE EXACT"
        assert [(shown.function, shown.text) for shown in run.guidance] == [
            ("", "LOOK FIRST"),
            ("house.switch_on", "NAMES ARE EXACT"),
        ]

    def test_a_memory_in_tool_descriptions_is_repeated_beside_an_error(self):
        memory, target = Advice(), Listening(ToolCall("switch_on", {"lamp": "hall"}), "done")
        card = memory.before_call("house.switch_on")
        memory.before_call = lambda function, arguments=None: card if arguments else None
        attempt(House(), "hall", target, memory, cards="describe")
        assert target.heard[1][-1].text == "Error: There is no lamp hall.\n\nNAMES ARE EXACT"

    def test_a_text_without_words_changes_nothing(self):
        without, silent = Listening(ON), Listening(ON)
        bare = attempt(House(), "hall", without)
        assert attempt(House(), "hall", silent, TextMemory(lambda query: "")) == bare
        assert without.heard == silent.heard


class TestLimits:
    def circling(self, messages, tools):
        return ToolCall("switch_on", {"lamp": f"lamp {len(messages)}"})

    def test_steps(self):
        run = attempt(House(), "hall", ScriptedTarget(self.circling), limits=Limits(steps=4))
        assert (run.outcome.ended, run.usage.model_calls, len(run.calls)) == ("limit", 4, 4)
        assert run.outcome.feedback == "the limit of 4 steps was reached; lamps differ"
        assert not any(event.kind == "final" for event in run.events)

    def test_tokens(self):
        run = attempt(House(), "hall", ScriptedTarget(self.circling), limits=Limits(tokens=700))
        assert run.outcome.feedback.startswith("the limit of 700 tokens was reached")
        assert run.usage.model_calls < 30

    def test_seconds(self):
        ticks = count(0.0, 10.0)
        run = attempt(
            House(), "hall", ScriptedTarget(self.circling), limits=Limits(seconds=25), clock=lambda: next(ticks)
        )
        assert run.outcome.feedback.startswith("the limit of 25 seconds was reached")
        assert run.usage.model_calls == 2

    def test_the_same_call_with_the_same_result_is_made_three_times_and_not_once_more(self):
        target = Listening(LIST, LIST, LIST, LIST, "done")
        run = attempt(House(), "hall", target)
        assert len(run.calls) == 3
        assert run.outcome.feedback.startswith("the same call was made 3 times with the same result")
        assert "before" not in target.heard[1][-1].text
        assert "You have made this very call before." in target.heard[2][-1].text

    def test_a_run_that_alternates_between_calls_ends_too(self):
        run = attempt(House(), "hall", ScriptedTarget.playing([LIST, OFF] * 10))
        assert (len(run.calls), run.outcome.ended) == (6, "limit")

    def test_a_full_window_is_a_limit(self):
        def full(messages, tools):
            if len(messages) > 3:
                raise WindowFullError
            return LIST

        run = attempt(House(), "hall", ScriptedTarget(full))
        assert (run.outcome.ended, len(run.calls)) == ("limit", 1)
        assert run.outcome.feedback.startswith("the context window was full")

    def test_a_limit_takes_away_no_success(self):
        run = attempt(House(), "hall", ScriptedTarget.playing([ON] * 9))
        assert (run.outcome.ended, run.outcome.passed) == ("limit", True)


def test_a_reply_that_cannot_be_read_is_answered_with_the_problem():
    target = Listening(AgentReply("well ...", problem="That was no JSON object."), ON, "done")
    run = attempt(House(), "hall", target)
    assert run.outcome.passed is True
    assert target.heard[1][-1] == ChatMessage("user", "That was no JSON object.")


def test_an_unknown_function_is_refused_by_the_environment():
    target = Listening(ToolCall("sing"), "done")
    run = attempt(House(), "hall", target)
    assert run.events[1].result.error == "There is no function sing."
    assert "Error: There is no function sing." in target.heard[1][-1].text


def test_an_unknown_task_is_named():
    with pytest.raises(UsageError, match="house has no task 'cellar'"):
        attempt(House(), "cellar", ScriptedTarget.playing([]))


def test_every_step_has_a_seed_of_its_own_and_the_same_run_the_same_seeds():
    class Seeds(ScriptedTarget):
        def reply(self, messages, tools, *, seed=None):
            seeds.append(seed)
            return super().reply(messages, tools)

    seeds: list[int] = []
    for seed in (1, 1, 2):
        attempt(House(), "hall", Seeds.playing([LIST, ON, "done"]), seed=seed)
    assert seeds[:3] == seeds[3:6]
    assert len(set(seeds)) == 6


def test_names_are_bare_where_they_can_be():
    tools = [Tool("mail.send"), Tool("chat.send"), Tool("chat.read")]
    assert spellings(tools) == {"mail__send": "mail.send", "chat__send": "chat.send", "read": "chat.read"}


class TestTraces:
    @pytest.fixture
    def runs(self):
        wrong = ToolCall("switch_on", {"lamp": "hall"})
        moves = {
            "careful": [LIST, ON, "It is on."],
            "hasty": [wrong, wrong, "It is on."],
            "learning": [wrong, LIST, ON, "It is on."],
        }
        return [
            attempt(House(), task, ScriptedTarget.playing(moves[name], name), Advice() if name == "hasty" else None)
            for task in ("hall", "twice")
            for name in moves
        ]

    def test_recorded_runs_read_back_equal(self, runs, tmp_path: Path):
        write_traces(runs, tmp_path / "runs.jsonl")
        read = list(read_traces([tmp_path / "runs.jsonl"]))
        assert [content_digest(run) for run in read] == [content_digest(run) for run in runs]
        assert read[1].guidance == runs[1].guidance

    def test_a_bank_is_built_from_them_and_holds_nothing_that_the_memory_said(self, runs, tmp_path: Path):
        write_traces(runs, tmp_path / "runs.jsonl")
        bank = str(tmp_path / "bank.db")
        # Two tasks are too few for a rule to stay in service; what they teach is what matters here.
        command = ["build", str(tmp_path / "runs.jsonl"), "--bank", bank, "--append-only", "--json"]
        built = CliRunner().invoke(cli, command)
        assert built.exit_code == 0, built.output
        frozen = tmp_path / "bank.jsonl"
        assert CliRunner().invoke(cli, ["cards", "freeze", bank, "--out", str(frozen)]).exit_code == 0
        assert json.loads(built.stdout)["skills"] == {"light": 1}
        assert "house.list_lamps" in frozen.read_text()
        assert "NAMES ARE EXACT" not in frozen.read_text()
        assert "LOOK FIRST" not in frozen.read_text()


PLACES = {task_id: RunnableTask(House(), task_id) for task_id in House().tasks()}


class TestControls:
    def test_the_ceiling_names_the_functions_of_the_solution_in_order(self):
        target = Listening("done")
        run = attempt(House(), "hall", target, ceiling(PLACES))
        assert "1. list_lamps, 2. switch_on." in target.heard[0][-1].text
        assert "hall lamp" not in run.guidance[0].text

    def test_the_wrong_card_is_what_the_memory_says_to_another_task_and_always_the_same(self):
        memory = wrong_card(TextMemory(lambda query: f"About: {query.task}"), PLACES)
        said = {attempt(House(), "hall", Listening("done"), memory).guidance for _ in range(3)}
        assert len(said) == 1
        others = (task.wording for task in House().tasks().values() if task.id != "hall")
        assert said.pop()[0].text in {f"About: {wording}" for wording in others}


class TestSoundness:
    def test_tasks_that_pass_by_doing_nothing_are_found(self):
        assert list(idle_tasks(House())) == ["nothing"]

    def test_every_task_accepts_its_own_solution(self):
        assert list(find_unsolved_tasks(House())) == []
        assert replay_solution(House(), "twice").passed is True
