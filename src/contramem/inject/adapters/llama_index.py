"""LlamaIndex: `FunctionAgent(tools=guided_tools(tools, run), system_prompt=run.guidance.text, ...)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import missing
from contramem.inject.adapters.wrapper import note_results
from contramem.inject.run import Run

try:
    from llama_index.core.tools import FunctionTool
except ImportError as error:
    raise missing(__name__, "llama_index", "llama-index", error) from error


def guided_tools(tools: Iterable[FunctionTool | Callable[..., Any]], run: Run) -> list[FunctionTool]:
    """The tools for one run: a line in their descriptions, and notes after their results. No call is held: a tool with
    `return_direct` ends the run, and so may a handoff beside it."""
    guided = GuidedRun(run)
    return [
        _guide(tool if isinstance(tool, FunctionTool) else FunctionTool.from_defaults(tool), guided) for tool in tools
    ]


def _guide(tool: FunctionTool, run: GuidedRun) -> FunctionTool:
    name = tool.metadata.get_name()
    description = f"{tool.metadata.description}\n{run.describe(name)}".strip()
    is_async = tool.real_fn is tool.async_fn
    noted = note_results(tool.real_fn, name, run, is_answer=tool.metadata.return_direct)
    return FunctionTool.from_defaults(
        fn=None if is_async else noted,
        async_fn=noted if is_async else None,
        name=name,
        description=description,
        return_direct=tool.metadata.return_direct,
        fn_schema=tool.metadata.fn_schema,
    )
