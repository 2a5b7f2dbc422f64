"""The readers of all formats: a row is what `--format` takes, how a file of the format is known, and how it is read.

To add one, write these two functions in the file of its family (agentdojo.py is the example) and a row here. Dialects
of messages (chat.py) and platforms (platforms.py) make the two of what they say about themselves. The order is that of
`--help`; detection does not depend on it.

Shared by families: messages.py (chat messages), records.py (fields of a record), dialects.py and spans.py (spans).
"""

from contramem.traces.reader import Reader, one_run, one_session
from contramem.traces.readers import (
    agentdojo,
    appworld,
    are,
    bfcl,
    browser,
    chat,
    claude,
    codex,
    frameworks,
    inspect,
    logged,
    platform_rows,
    platforms,
    records,
    spans,
    steps,
    swe,
    tau,
    terminal,
)

BUILT_IN: tuple[Reader, ...] = (
    Reader("contramem", records.is_native, records.read_native),
    Reader("recording", records.is_recording, records.read_recording),
    Reader("openai-chat", chat.is_openai_chat, records.read_records, is_general=True),
    Reader("anthropic", chat.is_anthropic, records.read_records, is_general=True),
    Reader("openai-responses", codex.is_responses, codex.read_responses),
    Reader("gemini", chat.GEMINI.claims, chat.GEMINI.read),
    Reader("ai-sdk", chat.AI_SDK.claims, chat.AI_SDK.read),
    Reader("model-calls", logged.holds_model_calls, logged.read_model_calls),
    Reader("rollouts", logged.holds_rollouts, logged.read_rollouts),
    Reader("langchain", frameworks.LANGCHAIN.claims, frameworks.LANGCHAIN.read),
    Reader("pydantic-ai", frameworks.PYDANTIC_AI.claims, frameworks.PYDANTIC_AI.read),
    Reader("openai-agents", platforms.OPENAI_AGENTS.claims, platforms.OPENAI_AGENTS.read),
    Reader("autogen", frameworks.AUTOGEN.claims, frameworks.AUTOGEN.read),
    Reader("group-chat", frameworks.GROUP_CHAT.claims, frameworks.read_group_chat),
    Reader("smolagents", frameworks.is_smolagents, frameworks.read_smolagents),
    Reader("dspy", frameworks.is_dspy, frameworks.read_dspy),
    Reader("sharegpt", chat.SHAREGPT.claims, chat.SHAREGPT.read),
    Reader("steps", steps.has_plain_steps, steps.read_steps, "a step", is_general=True),
    Reader("claude-code", claude.is_session, one_session(claude.session)),
    Reader("claude-stream", claude.is_stream, one_session(claude.stream)),
    Reader("codex", codex.is_rollout, one_session(codex.rollout)),
    Reader("gemini-cli", codex.is_gemini_cli, codex.read_gemini_cli),
    Reader("cline", swe.claims_cline, swe.read_cline),
    Reader("openhands", swe.is_openhands, swe.read_openhands),
    Reader("swe-agent", swe.is_swe_agent, one_run(swe.swe_agent), "a command"),
    Reader("mini-swe-agent", swe.is_mini_swe_agent, one_run(swe.mini_swe_agent), "a command"),
    Reader(
        "terminal-bench",
        terminal.is_terminal_bench,
        terminal.read_terminal_bench,
        "a command in the log of the terminal",
    ),
    Reader("browser", browser.is_browser, browser.read_browser, "an action of a step"),
    Reader("react", browser.is_react, browser.read_react, "an action that a reply ends in"),
    Reader("bfcl", bfcl.is_bfcl, bfcl.read_bfcl, "a call that the model wrote; hardly any was made"),
    Reader("tau-bench", tau.is_tau_bench, tau.read_tau_bench),
    Reader("tau2", tau.is_tau2, tau.read_tau2),
    Reader("agentdojo", agentdojo.is_agentdojo, one_run(agentdojo.agentdojo)),
    Reader("inspect", inspect.is_inspect, inspect.read_inspect),
    Reader("harbor", terminal.is_harbor, one_run(terminal.harbor)),
    Reader("otel", spans.is_otel, spans.read_otel),
    Reader("openinference", spans.is_openinference, spans.read_openinference),
    Reader("langsmith", platforms.LANGSMITH.claims, platforms.LANGSMITH.read),
    Reader("langfuse", platforms.LANGFUSE.claims, platforms.LANGFUSE.read),
    Reader("mlflow", platforms.MLFLOW.claims, platforms.MLFLOW.read),
    Reader("weave", platforms.WEAVE.claims, platforms.WEAVE.read),
    Reader("braintrust", platform_rows.BRAINTRUST.claims, platform_rows.BRAINTRUST.read),
    Reader("opik", platform_rows.OPIK.claims, platform_rows.OPIK.read),
    Reader("are", are.is_are, are.read_are),
    Reader("appworld", appworld.is_appworld, appworld.read_appworld, "a call in code"),
)
