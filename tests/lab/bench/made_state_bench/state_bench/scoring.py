from dataclasses import dataclass
from typing import Any


@dataclass
class Score:
    score: int
    reasoning: str


def evaluate_state_requirements(task: Any, difference: Any) -> Score:
    met = difference.changed == task.wanted
    return Score(int(met), "met" if met else f"the state changed by {sorted(difference.changed)}")


class TaskRequirementsJudge:
    def __init__(self, client: Any, prompts_dir: Any, system_prompt: str) -> None:
        self._client = client

    def evaluate(self, task: Any, conversation: list[Any], tool_calls: list[Any], state_diff: Any) -> Score:
        answer = self._client.complete_json(prompt=str(conversation), system_prompt="Judge.")
        return Score(int(answer["passed"]), "the dialogue")
