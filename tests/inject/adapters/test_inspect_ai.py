import gc

import pytest

pytest.importorskip("inspect_ai", reason="needs contramem[inspect]")

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.agent import run as run_agent
from inspect_ai.approval import Approval, ApprovalPolicy, approver
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, includes, scorer
from inspect_ai.solver import generate, prompt_template, solver, system_message, use_tools
from inspect_ai.tool import ToolCall, ToolError, tool
from inspect_ai.util import time_limit, turn_limit, working_limit
from strict_provider import assert_cacheable

from contramem.inject.adapters.inspect_ai import guided
from contramem.inject.log import read_log
from contramem.inject.run import Memory

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),  # its retry library
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

COUNT = iter(range(10_000))
NOTES = "## Notes from earlier runs"
OPEN, LOOK = ("open_ticket", {"reason": "late"}), ("lookup_code", {"topic": "late"})
CLOSE = ("close_ticket", {"ticket": "T1"})


class Scripted:
    """Inspect's mockllm, replying from a list. The messages of each request are kept."""

    def __init__(self, *replies):
        self.requests = []
        self._replies = iter(replies)
        self.model = get_model("mockllm/model", custom_outputs=self._reply, memoize=False)

    def _reply(self, input, tools, tool_choice, config):
        self.requests.append(list(input))
        self.tools = {tool.name: tool.description for tool in tools}
        reply = next(self._replies)
        reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it counts with a download
        return reply

    def told(self, request):
        """The results of tools that a request holds."""
        tools = [message for message in self.requests[request] if message.role == "tool"]
        return [message.error.message if message.error else message.text for message in tools]


def calls(*named):
    output = ModelOutput.for_tool_call("mockllm/model", "none", {})
    output.choices[0].message.tool_calls = [
        ToolCall(id=str(next(COUNT)), function=name, arguments=arguments) for name, arguments in named
    ]
    return output


def submit():
    return calls(("submit", {"answer": "done"}))


@pytest.fixture
def tools(office):
    """The tools of the desk, as Inspect wants them."""

    @tool
    def lookup_code():
        async def execute(topic: str) -> str:
            """Look up a reason code.

            Args:
                topic: topic
            """
            return office.lookup_code(topic)

        return execute

    @tool
    def open_ticket():
        async def execute(reason: str) -> str:
            """Open a ticket.

            Args:
                reason: reason
            """
            return office.open_ticket(reason)

        return execute

    @tool
    def send_notice():
        async def execute(text: str) -> str:
            """Send a notice.

            Args:
                text: text
            """
            return office.send_notice(text)

        return execute

    @tool
    def close_ticket():
        async def execute(ticket: str) -> str:
            """Close a ticket.

            Args:
                ticket: ticket
            """
            raise ToolError("a notice is missing")

        return execute

    return [lookup_code(), open_ticket(), send_notice(), close_ticket()]


@pytest.fixture
def run(tmp_path):
    def run(task, model, **options):
        [log] = eval(task, model=model.model, log_dir=str(tmp_path), display="none", **options)
        assert log.status == "success", log.error
        return log

    yield run
    gc.collect()  # it leaves streams open, which would be reported in whichever test comes next


def samples(task, number=1):
    return [Sample(input=task, target="done", id=f"t{n}") for n in range(number)]


CODE_THEN_OPEN = (calls(LOOK), calls(OPEN))


def test_what_is_open_is_said_once_when_the_agent_submits(desk, tools, office, open_task, run):
    model = Scripted(*CODE_THEN_OPEN, submit(), submit())
    log = run(guided(Task(samples(open_task), solver=react(tools=tools), scorer=includes()), desk), model)
    assert "send_notice" in model.told(-1)[-1].partition("Before you finish")[2]
    assert log.results.scores[0].metrics["accuracy"].value == 1


def test_a_submission_counts_where_no_room_is_left_for_another(desk, tools, office, open_task, run):
    model = Scripted(*CODE_THEN_OPEN, submit())
    task = Task(samples(open_task), solver=react(tools=tools), scorer=includes(), message_limit=10)
    log = run(guided(task, desk), model)
    assert log.results.scores[0].metrics["accuracy"].value == 1


LIMITS = [
    {"message_limit": 3},
    {"message_limit": 8},
    {"turn_limit": 1},
    {"turn_limit": 3},
    {"token_limit": 2},
    {"token_limit": 19},
]
"""Each leaves no room for what a held call leads to. A reply is two tokens."""


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_call_is_made_where_the_limits_of_the_sample_leave_no_room_to_make_it_later(
    desk, tools, office, open_task, run, limits
):
    model = Scripted(calls(OPEN), calls(LOOK), calls(OPEN), submit(), submit())
    run(guided(Task(samples(open_task), solver=react(tools=tools), **limits), desk), model)
    assert office.done[0] == "open_ticket"


@pytest.mark.parametrize("kind", ["time", "working"])
def test_a_call_is_made_where_a_tenth_of_the_time_is_used(desk, tools, office, open_task, run, monkeypatch, kind):
    clock = {"time": time_limit, "working": working_limit}[kind]
    monkeypatch.setattr(type(clock(None)), "usage", property(lambda limit: 361.0))
    task = Task(samples(open_task), solver=react(tools=tools), **{f"{kind}_limit": 3600})
    run(guided(task, desk), Scripted(calls(OPEN), submit(), submit()))
    assert office.done == ["open_ticket"]


def test_a_call_is_held_where_the_limits_of_the_sample_leave_room(desk, tools, office, open_task, run):
    model = Scripted(calls(OPEN), calls(LOOK), calls(OPEN), submit(), submit())
    limits = {"message_limit": 20, "turn_limit": 8, "token_limit": 1000, "time_limit": 3600, "working_limit": 3600}
    run(guided(Task(samples(open_task), solver=react(tools=tools), **limits), desk), model)
    assert office.done == ["lookup_code", "open_ticket"]


def test_a_call_is_made_where_the_limits_of_an_agent_within_the_sample_leave_no_room(
    desk, tools, office, open_task, run
):
    @solver
    def limited():
        async def solve(state, generate):
            await run_agent(react(tools=tools), state.messages, limits=[turn_limit(1)])
            return state

        return solve

    model = Scripted(calls(OPEN), ModelOutput.from_content("mockllm/model", "done"))
    run(guided(Task(samples(open_task), solver=limited()), desk), model)
    assert office.done == ["open_ticket"]


def test_a_call_held_in_the_only_round_of_calls_is_not_lost(desk, tools, office, open_task, run):
    model = Scripted(calls(OPEN), calls(LOOK), calls(OPEN), ModelOutput.from_content("mockllm/model", "done"))
    solvers = [use_tools(tools), generate(tool_calls="single")]
    run(guided(Task(samples(open_task), solver=solvers), desk), model)
    assert office.done == ["lookup_code", "open_ticket"]


def test_an_agent_that_stops_calling_tools_is_told_once_what_is_open(desk, tools, office, open_task, run):
    done = [ModelOutput.from_content("mockllm/model", text) for text in ("done", "done again")]
    model = Scripted(*CODE_THEN_OPEN, *done)
    log = run(guided(Task(samples(open_task), solver=[use_tools(tools), generate()]), desk), model)
    assert "Before you finish" in model.requests[-1][-1].text
    assert log.samples[0].output.completion == "done again"


def test_what_was_sent_once_is_never_changed(desk, tools, office, open_task, run):
    model = Scripted(*CODE_THEN_OPEN, calls(CLOSE), submit(), submit())
    run(guided(Task(samples(open_task), solver=react(tools=tools)), desk), model)
    assert_cacheable([[(message.role, message.text) for message in request] for request in model.requests])


def test_guidance_is_in_every_request_and_a_line_in_the_tool(desk, tools, office, open_task, run):
    model = Scripted(calls(LOOK), submit())
    log = run(guided(Task(samples(open_task), solver=react(prompt="You are X.", tools=tools)), desk), model)
    assert [message.role for message in model.requests[0]] == ["system", "system", "user"]
    assert "### Look up the reason code" in model.requests[0][1].text
    assert "Closing fails while a notice is missing" in model.tools["close_ticket"]
    assert all(sum(message.text.startswith(NOTES) for message in request) == 1 for request in model.requests)
    assert not any(message.text.startswith(NOTES) for message in log.samples[0].messages), "it is shown, not kept"


def test_calls_that_would_break_a_guard_are_held_together_once_and_then_made(desk, tools, office, open_task, run):
    model = Scripted(calls(OPEN, OPEN), calls(LOOK), calls(OPEN), submit(), submit())
    run(guided(Task(samples(open_task), solver=react(tools=tools)), desk), model)
    first, second, *_ = model.told(-1)
    assert "Not executed yet" in first
    assert "was held as well" in second
    assert office.done == ["lookup_code", "open_ticket"]


def test_a_call_beside_submit_is_made(desk, tools, office, open_task, run):
    model = Scripted(calls(OPEN, ("submit", {"answer": "done"})), submit())
    run(guided(Task(samples(open_task), solver=react(tools=tools), scorer=includes()), desk), model)
    assert office.done == ["open_ticket"]


def test_a_failure_brings_the_card_beside_its_result_in_every_later_request(desk, tools, open_task, run):
    model = Scripted(calls(CLOSE), calls(CLOSE), calls(LOOK), submit())
    run(guided(Task(samples(open_task), solver=react(tools=tools)), desk), model)
    assert [model.told(number)[0].count("### desk.close_ticket") for number in (1, 2, 3)] == [1, 1, 1]
    assert "failed with these very arguments" in model.told(3)[1]


def test_samples_and_epochs_are_runs_of_their_own_and_scores_are_outcomes(desk_bank, tools, open_task, run, tmp_path):
    memory = Memory.load(desk_bank, log=tmp_path / "inject.jsonl")
    model = Scripted(*(reply for _ in range(4) for reply in (calls(LOOK), submit())))
    task = Task(samples(open_task, 2), solver=react(tools=tools), scorer=includes(), epochs=2)
    log = run(guided(task, memory), model, max_samples=1)
    lines, _ = read_log(tmp_path / "inject.jsonl")
    assert {line.run for line in lines} == {sample.uuid for sample in log.samples}
    assert {line.task for line in lines} == {"t0", "t1"}
    assert [line.passed for line in lines if line.where == "finish"] == [True] * 4


def test_graders_are_not_guided(memory, task, run):
    @scorer(metrics=[accuracy()])
    def graded():
        async def score(state, target):
            await get_model().generate(task)
            return Score(value="I")

        return score

    @solver
    def asks_another():
        async def solve(state, generate):
            await get_model().generate("Is this a question?")
            return state

        return solve

    say = [ModelOutput.from_content("mockllm/model", "done") for _ in range(3)]
    model = Scripted(*say)
    plan = [prompt_template("Do this: {prompt}"), asks_another(), generate()]
    run(guided(Task(samples(task), solver=plan, scorer=graded()), memory, ability="ambiguity"), model)
    assert [any(message.text.startswith(NOTES) for message in request) for request in model.requests] == [
        False,
        True,
        False,
    ]


def test_the_task_s_own_setup_and_approvers_stay(desk, tools, office, open_task, run):
    asked = []

    @approver
    def careful():
        async def approve(message, call, view, history):
            asked.append(call.function)
            return Approval(decision="approve")

        return approve

    model = Scripted(calls(OPEN), calls(LOOK), submit())
    agent, policies = react(prompt=None, tools=tools), [ApprovalPolicy(careful(), "*")]
    run(guided(Task(samples(open_task), setup=system_message("First."), solver=agent, approval=policies), desk), model)
    assert model.requests[0][0].text == "First."
    assert asked == ["lookup_code", "submit"], "a held call is asked of nobody"


def test_nothing_is_injected_when_memory_is_off(desk, tools, office, open_task, run, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    model = Scripted(calls(OPEN), submit())
    run(guided(Task(samples(open_task), solver=react(tools=tools)), desk), model)
    assert not any(message.text.startswith(NOTES) for message in model.requests[0])
    assert office.done == ["open_ticket"]
