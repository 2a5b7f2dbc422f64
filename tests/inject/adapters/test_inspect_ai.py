import gc

import pytest

pytest.importorskip("inspect_ai", reason="needs contramem[inspect]")

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.approval import Approval, ApprovalPolicy, approver
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, includes, scorer
from inspect_ai.solver import generate, prompt_template, solver, system_message
from inspect_ai.tool import ToolCall, ToolError, tool

from contramem.inject.adapters.inspect_ai import guided
from contramem.inject.injections import read_log
from contramem.inject.run import Memory

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),  # its retry library
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

COUNT = iter(range(10_000))
NOTES = "## Notes from earlier runs"
CARD = "### EmailClient.delete_email"


class Scripted:
    """Inspect's mockllm, replying from a list. The messages of each request are kept."""

    def __init__(self, *replies):
        self.requests = []
        self._replies = iter(replies)
        self.model = get_model("mockllm/model", custom_outputs=self._reply, memoize=False)

    def _reply(self, input, tools, tool_choice, config):
        self.requests.append(list(input))
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


def delete(*ids):
    return calls(*(("delete_email", {"email_id": email_id}) for email_id in ids))


def submit():
    return calls(("submit", {"answer": "done"}))


@pytest.fixture
def delete_email(inbox):
    @tool
    def delete_email():
        async def execute(email_id: str) -> str:
            """Delete one email.

            Args:
                email_id: identifier
            """
            try:
                return inbox.delete_email(email_id)
            except ValueError as error:
                raise ToolError(str(error)) from error

        return execute

    return delete_email()


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


def test_both_texts_reach_the_model_and_the_second_call_is_made(memory, delete_email, inbox, task, run):
    model = Scripted(delete("m1"), delete("m1"), submit())
    agent = react(prompt="You are X.", tools=[delete_email])
    log = run(guided(Task(samples(task), solver=agent, scorer=includes()), memory, ability="ambiguity"), model)
    roles = [message.role for message in model.requests[0]]
    assert roles == ["system", "system", "user"]
    assert model.requests[0][1].text.startswith(NOTES)
    assert "### Delete clear emails despite an ambiguous keep exception" in model.requests[0][1].text
    held, made = model.told(2)
    assert CARD in held
    assert made == "deleted m1"
    assert inbox.deleted == ["m1"]
    assert all(sum(message.text.startswith(NOTES) for message in request) == 1 for request in model.requests)
    assert not any(message.text.startswith(NOTES) for message in log.samples[0].messages), "it is shown, not kept"


def test_parallel_calls_of_one_reply_are_held_together(memory, delete_email, inbox, task, run):
    model = Scripted(delete("m1", "m2"), delete("m1", "m2"), submit())
    run(guided(Task(samples(task), solver=react(tools=[delete_email])), memory), model)
    held, as_well, *made = model.told(2)
    assert CARD in held
    assert "was held as well" in as_well
    assert made == ["deleted m1", "deleted m2"]


def test_an_error_brings_the_card_back_and_a_held_call_is_no_error(memory, delete_email, task, run):
    model = Scripted(delete("m1"), delete("m1"), delete("x"), delete("m2"), delete("m2"), submit())
    run(guided(Task(samples(task), solver=react(tools=[delete_email])), memory), model)
    _, first, failed, again, made = model.told(5)
    assert (first, failed, made) == ("deleted m1", "no email x", "deleted m2")
    assert "The last call of this function failed." in again


def test_samples_and_epochs_are_runs_of_their_own_and_scores_are_outcomes(
    bank_path, delete_email, inbox, task, run, tmp_path
):
    memory = Memory.load(bank_path, log=tmp_path / "inject.jsonl")
    model = Scripted(*(reply for _ in range(4) for reply in (delete("m1"), delete("m1"), submit())))
    agent = react(tools=[delete_email])
    task = Task(samples(task, 2), solver=agent, scorer=includes(), epochs=2)
    log = run(guided(task, memory), model, max_samples=1)
    assert len(inbox.deleted) == 4
    lines, _ = read_log(tmp_path / "inject.jsonl")
    assert {line.run for line in lines} == {sample.uuid for sample in log.samples}
    assert {line.task for line in lines} == {"t0", "t1"}
    ended = [line for line in lines if line.where == "finish"]
    assert [line.passed for line in ended] == [True] * 4
    assert [line.where for line in lines].count("before_call") == 4


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


def test_the_task_s_own_setup_and_approvers_stay(memory, delete_email, inbox, task, run):
    asked = []

    @approver
    def careful():
        async def approve(message, call, view, history):
            asked.append(call.function)
            return Approval(decision="approve")

        return approve

    model = Scripted(delete("m1"), delete("m1"), submit())
    policies = [ApprovalPolicy(careful(), "*")]
    own = Task(
        samples(task),
        setup=system_message("First."),
        solver=react(prompt=None, tools=[delete_email]),
        approval=policies,
    )
    run(guided(own, memory), model)
    assert model.requests[0][0].text == "First."
    assert asked == ["delete_email", "submit"], "a held call is asked of nobody"
    assert inbox.deleted == ["m1"]


def test_other_tasks_are_left_alone(delete_email, inbox, task, run):
    model = Scripted(delete("m1"), submit())
    run(Task(samples(task), solver=react(tools=[delete_email])), model)
    assert not any(message.text.startswith(NOTES) for message in model.requests[0])
    assert inbox.deleted == ["m1"]


def test_nothing_is_injected_when_memory_is_off(memory, delete_email, inbox, task, run, monkeypatch):
    monkeypatch.setenv("CONTRAMEM_OFF", "1")
    model = Scripted(delete("m1"), submit())
    run(guided(Task(samples(task), solver=react(tools=[delete_email])), memory), model)
    assert not any(message.text.startswith(NOTES) for message in model.requests[0])
    assert inbox.deleted == ["m1"]
