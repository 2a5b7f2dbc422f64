"""One small file per trace format. The order is the order of `--help`; detection does not depend on it.

Shared by formats: messages.py (chat messages), tool_blocks.py and tagged_calls.py (calls in their content), records.py
(fields of a record), conversation.py (messages of frameworks), session.py (session logs), span_tree.py (platforms that
keep runs as trees), span_rows.py (those that export each step as a row), meter.py (tokens and cost).
"""

from contramem.traces.reader import Reader
from contramem.traces.readers.agentdojo import AgentDojoReader
from contramem.traces.readers.ai_sdk import AiSdkReader
from contramem.traces.readers.anthropic import AnthropicReader
from contramem.traces.readers.appworld import AppWorldReader
from contramem.traces.readers.are import AreReader
from contramem.traces.readers.autogen import AutoGenReader, GroupChatReader
from contramem.traces.readers.braintrust import BraintrustReader
from contramem.traces.readers.chat import ChatReader
from contramem.traces.readers.claude_code import ClaudeCodeReader
from contramem.traces.readers.claude_stream import ClaudeStreamReader
from contramem.traces.readers.cline import ClineReader
from contramem.traces.readers.codex import CodexReader, ResponsesReader
from contramem.traces.readers.dspy import DspyReader
from contramem.traces.readers.gemini import GeminiReader
from contramem.traces.readers.gemini_cli import GeminiCliReader
from contramem.traces.readers.harbor import HarborReader
from contramem.traces.readers.inspect_ai import InspectReader
from contramem.traces.readers.langchain import LangChainReader
from contramem.traces.readers.langfuse import LangfuseReader
from contramem.traces.readers.langsmith import LangSmithReader
from contramem.traces.readers.mini_swe_agent import MiniSweAgentReader
from contramem.traces.readers.mlflow import MlflowReader
from contramem.traces.readers.model_calls import ModelCallsReader
from contramem.traces.readers.native import NativeReader
from contramem.traces.readers.openai_agents import OpenAiAgentsReader
from contramem.traces.readers.openhands import OpenHandsReader
from contramem.traces.readers.openinference import OpenInferenceReader
from contramem.traces.readers.opik import OpikReader
from contramem.traces.readers.otel import OtelReader
from contramem.traces.readers.pydantic_ai import PydanticAiReader
from contramem.traces.readers.recording import RecordingReader
from contramem.traces.readers.rollouts import RolloutReader
from contramem.traces.readers.sharegpt import ShareGptReader
from contramem.traces.readers.smolagents import SmolagentsReader
from contramem.traces.readers.steps import StepsReader
from contramem.traces.readers.swe_agent import SweAgentReader
from contramem.traces.readers.tau2 import Tau2Reader
from contramem.traces.readers.tau_bench import TauBenchReader
from contramem.traces.readers.terminal_bench import TerminalBenchReader
from contramem.traces.readers.weave import WeaveReader

BUILT_IN: tuple[Reader, ...] = (
    NativeReader(),
    RecordingReader(),
    ChatReader(),
    AnthropicReader(),
    ResponsesReader(),
    GeminiReader(),
    AiSdkReader(),
    ModelCallsReader(),
    RolloutReader(),
    LangChainReader(),
    PydanticAiReader(),
    OpenAiAgentsReader(),
    AutoGenReader(),
    GroupChatReader(),
    SmolagentsReader(),
    DspyReader(),
    ShareGptReader(),
    StepsReader(),
    ClaudeCodeReader(),
    ClaudeStreamReader(),
    CodexReader(),
    GeminiCliReader(),
    ClineReader(),
    OpenHandsReader(),
    SweAgentReader(),
    MiniSweAgentReader(),
    TerminalBenchReader(),
    TauBenchReader(),
    Tau2Reader(),
    AgentDojoReader(),
    InspectReader(),
    HarborReader(),
    OtelReader(),
    OpenInferenceReader(),
    LangSmithReader(),
    LangfuseReader(),
    MlflowReader(),
    WeaveReader(),
    BraintrustReader(),
    OpikReader(),
    AreReader(),
    AppWorldReader(),
)
