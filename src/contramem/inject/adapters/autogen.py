"""AutoGen: `AssistantAgent(..., tools=guided_tools(tools, run), system_message=run.guidance.text)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import missing
from contramem.inject.adapters.wrapper import NotedCalls
from contramem.inject.run import Run

try:
    from autogen_core import CancellationToken
    from autogen_core.tools import BaseTool, FunctionTool
except ImportError as error:
    raise missing(__name__, "autogen_core", "autogen", error) from error


def guided_tools(
    tools: Iterable[BaseTool[Any, Any] | Callable[..., Any]], run: Run
) -> list[BaseTool[Any, Any] | Callable[..., Any]]:
    """The tools for one run: a line in their descriptions, and notes after their results. No call is held: an agent
    may end with the results of its tools."""
    guided = GuidedRun(run)
    return [_GuidedTool(_as_tool(tool), guided) for tool in tools]


def _as_tool(tool: BaseTool[Any, Any] | Callable[..., Any]) -> BaseTool[Any, Any]:
    return tool if isinstance(tool, BaseTool) else FunctionTool(tool, description=tool.__doc__ or "")


class _GuidedTool(BaseTool[Any, Any]):
    def __init__(self, tool: BaseTool[Any, Any], run: GuidedRun) -> None:
        description = f"{tool.description}\n{run.describe(tool.name)}".strip()
        super().__init__(tool.args_type(), tool.return_type(), tool.name, description)
        self._tool, self._calls = tool, NotedCalls(tool.name, run)

    @property
    def schema(self) -> Any:
        return {**self._tool.schema, "description": self.description}

    async def run(self, args: Any, cancellation_token: CancellationToken) -> Any:
        return await self._tool.run(args, cancellation_token)

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> Any:
        try:
            result = await self._tool.run_json(args, cancellation_token, call_id)
        except Exception as error:
            if noted := self._calls.on_error(args, error):
                raise noted from error
            raise
        return self._calls.after(args, result)

    def return_value_as_string(self, value: Any) -> str:
        text: str = self._tool.return_value_as_string(value)
        return text
