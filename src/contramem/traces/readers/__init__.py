"""One small file per trace format. The order is the order of `--help`; detection does not depend on it."""

from contramem.traces.reader import Reader
from contramem.traces.readers.agentdojo import AgentDojoReader
from contramem.traces.readers.anthropic import AnthropicReader
from contramem.traces.readers.are import AreReader
from contramem.traces.readers.chat import ChatReader
from contramem.traces.readers.claude_code import ClaudeCodeReader
from contramem.traces.readers.codex import CodexReader, ResponsesReader
from contramem.traces.readers.harbor import HarborReader
from contramem.traces.readers.inspect_ai import InspectReader
from contramem.traces.readers.mini_swe_agent import MiniSweAgentReader
from contramem.traces.readers.native import NativeReader
from contramem.traces.readers.otel import OtelReader
from contramem.traces.readers.tau2 import Tau2Reader
from contramem.traces.readers.tau_bench import TauBenchReader

BUILT_IN: tuple[Reader, ...] = (
    NativeReader(),
    ChatReader(),
    AnthropicReader(),
    ResponsesReader(),
    ClaudeCodeReader(),
    CodexReader(),
    MiniSweAgentReader(),
    TauBenchReader(),
    Tau2Reader(),
    AgentDojoReader(),
    InspectReader(),
    HarborReader(),
    OtelReader(),
    AreReader(),
)
