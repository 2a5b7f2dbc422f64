"""CrewAI: `Agent(..., tools=guided_tools(tools, run), backstory=f"{story}\\n\\n{run.guidance.text}")`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import missing
from contramem.inject.adapters.wrapper import note_results
from contramem.inject.run import Run

try:
    from crewai.tools import BaseTool
except ImportError as error:
    raise missing(__name__, "crewai", "crewai", error) from error


def guided_tools(tools: Iterable[BaseTool], run: Run) -> list[BaseTool]:
    """Copies of the tools for one run: a line in their descriptions, and notes after their results. No call is held: a
    tool with `result_as_answer` ends the run."""
    guided = GuidedRun(run)
    return [_guide(tool, guided) for tool in tools]


def _guide(tool: BaseTool, run: GuidedRun) -> BaseTool:
    function = getattr(tool, "func", None) or tool._run
    noted: Any = note_results(function, tool.name, run, is_answer=tool.result_as_answer)
    copied = tool.model_copy(update={"description": f"{tool.description}\n{run.describe(tool.name)}".strip()})
    object.__setattr__(copied, "func" if hasattr(tool, "func") else "_run", noted)
    return copied
