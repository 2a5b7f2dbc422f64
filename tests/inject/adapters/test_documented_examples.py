"""The examples of docs/integrations.md are run as they stand, but for the line that names a model."""

import gc
import re
import shutil
from pathlib import Path

import pytest

DOCUMENT = (Path(__file__).parents[3] / "docs" / "integrations.md").read_text(encoding="utf-8")
EXAMPLES = {
    heading: re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    for heading, section in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
}
NOTES = "## Notes from earlier runs"
COUNT = iter(range(10_000))


@pytest.fixture
def run(bank_path, tmp_path, monkeypatch):
    """Runs an example where its bank is, with another `model` than it names."""
    shutil.copy(bank_path, tmp_path / "bank.jsonl")
    monkeypatch.chdir(tmp_path)

    def run(heading, number=0, model=None):
        example = EXAMPLES[heading][number]
        if model is not None:
            example, named = re.subn(r"^model = .*\n", "", example, flags=re.MULTILINE)
            assert named == 1
        values = {"model": model, "__name__": "example"}
        exec(compile(example, f"docs/integrations.md: {heading}", "exec", dont_inherit=True), values)
        return values

    return run


def test_every_example_is_tested_here():
    assert {heading: len(examples) for heading, examples in EXAMPLES.items() if examples} == {
        "Your own loop": 2,
        "Your own adapter": 1,
        "PydanticAI": 1,
        "LangChain": 1,
        "LangGraph": 1,
        "OpenAI Agents SDK": 1,
        "Inspect": 1,
        "Claude Agent SDK": 1,
    }


def test_a_loop(run, task):
    replies = iter([[("delete_email", {"email_id": "m7"})], []])
    first, made = run("Your own loop")["solve"](task, lambda messages: next(replies))
    assert first.startswith(NOTES)
    assert made == "deleted m7"


def test_one_tool(run, capsys):
    run("Your own loop", 1)
    assert capsys.readouterr().out == "deleted m7\n"


def test_an_adapter_of_one_s_own(run, task):
    hooks = run("Your own adapter")["MemoryHooks"]()
    tools = {"delete_email": "Delete one email.", "send_email": "Send one."}
    assert hooks.on_start(task, tools).startswith(NOTES)
    call = "send_email", {"recipients": ["x"]}
    assert hooks.before_tool(*call, reply_id=1, ends_run=False) is None
    assert hooks.after_tool(*call, result="Error: no such address").startswith("Error: no such address")
    assert "Not executed yet" in hooks.before_tool(*call, reply_id=2, ends_run=False)
    assert hooks.before_answer() == ""
    hooks.on_end(True)


def test_a_framework_that_calls_the_adapter_of_one_s_own(run, task):
    replies = iter([([("delete_email", {"email_id": "m7"})], None), ([], "done")])
    seen = []

    def model(messages, tools):
        seen.append((list(messages), dict(tools)))
        return next(replies)

    def delete_email(email_id):
        """Delete one email."""
        return f"deleted {email_id}"

    assert run("Your own adapter")["run_agent"](model, task, {"delete_email": delete_email}) == "done"
    assert seen[0][0][0].startswith(NOTES)
    assert seen[0][1]["delete_email"].startswith("Delete one email.")
    assert seen[1][0][-1] == "deleted m7"


def test_pydantic_ai(run, capsys):
    pytest.importorskip("pydantic_ai", reason="needs contramem[pydantic-ai]")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    requests = []
    replies = iter([ToolCallPart("delete_email", {"email_id": "m7"})] * 2 + [TextPart("done")])

    def reply(messages, info):
        requests.append(f"{info.instructions} {messages[-1].parts}")
        return ModelResponse([next(replies)])

    run("PydanticAI", model=FunctionModel(reply))
    check(requests)
    assert capsys.readouterr().out == "done\n"


@pytest.mark.parametrize("heading", ["LangChain", "LangGraph"])
def test_langchain(run, heading, capsys):
    pytest.importorskip("langchain", reason="needs contramem[langchain]")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    requests = []

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools, **options):
            return self

        def _generate(self, messages, *args, **options):
            requests.append(" ".join(str(message.content) for message in (messages[0], messages[-1])))
            return super()._generate(messages, *args, **options)

    calls = [[{"name": "delete_email", "args": {"email_id": "m7"}, "id": str(next(COUNT))}] for _ in range(2)]
    replies = [AIMessage("", tool_calls=call) for call in calls] + [AIMessage("done")]
    run(heading, model=Scripted(messages=iter(replies)))
    check(requests)
    assert capsys.readouterr().out == "done\n"


def test_openai_agents(run, capsys):
    pytest.importorskip("agents", reason="needs contramem[openai-agents]")
    from agents import Model, ModelResponse, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    requests = []
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
    calls = [
        ResponseFunctionToolCall(
            type="function_call", call_id=str(next(COUNT)), name="delete_email", arguments='{"email_id": "m7"}'
        )
        for _ in range(2)
    ]
    replies = iter([*calls, done])

    class Scripted(Model):
        async def get_response(self, system_instructions, input, *args, **options):
            requests.append(f"{system_instructions} {input[-1]}")
            return ModelResponse(output=[next(replies)], usage=Usage(), response_id=None)

        def stream_response(self, *args, **options):
            raise NotImplementedError

    run("OpenAI Agents SDK", model=Scripted())
    check(requests)
    assert capsys.readouterr().out == "done\n"


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:The 'initial' parameter is deprecated:DeprecationWarning",
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
def test_inspect(run, capsys):
    pytest.importorskip("inspect_ai", reason="needs contramem[inspect]")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    requests = []
    calls = [("delete_email", {"email_id": "m7"})] * 2 + [("submit", {"answer": "deleted"})]
    replies = iter([ModelOutput.for_tool_call("mockllm/model", *call) for call in calls])

    def reply(input, tools, tool_choice, config):
        system = [message.text for message in input if message.role == "system"]
        requests.append(" ".join((*system, input[-1].text, str(getattr(input[-1], "error", "")))))
        output = next(replies)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    run("Inspect", model=get_model("mockllm/model", custom_outputs=reply, memoize=False))
    check(requests)
    assert capsys.readouterr().out.endswith("1.0\n")
    assert '"where":"finish"' in Path("inject.jsonl").read_text(encoding="utf-8")
    gc.collect()  # Inspect leaves streams open


@pytest.mark.slow
def test_claude_agent_sdk(run, anthropic, capsys):
    pytest.importorskip("claude_agent_sdk", reason="needs contramem[claude-agent-sdk]")
    call = {"type": "tool_use", "name": "mcp__EmailClient__delete_email", "input": {"email_id": "m7"}}
    anthropic.replies = [[call | {"id": f"toolu_{next(COUNT)}"}] for _ in range(2)]
    run("Claude Agent SDK")
    results = ["", *(str(anthropic.told(number)[-1]) for number in (1, 2))]
    check([f"{asked['messages']} {told}" for asked, told in zip(anthropic.requests, results, strict=True)])
    assert capsys.readouterr().out == "done\n"


def check(requests):
    """The guidance reached the model, and its call was made at once."""
    first, made, _ = requests
    assert NOTES in first
    assert "deleted m7" in made
