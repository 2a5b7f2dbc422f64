"""What a run cost, added up over the model calls that say."""

from __future__ import annotations

from contramem.traces.decoding import number
from contramem.traces.trajectory import RunUsage

_IN = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OUT = ("completion_tokens", "output_tokens")


class Meter:
    """Sums token counts under OpenAI's and Anthropic's names. What no call reports stays None, never 0."""

    def __init__(self) -> None:
        self.model_calls: int | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.cost_usd: float | None = None

    def add(self, usage: object, cost: object = None) -> None:
        if isinstance(usage, dict):
            self.model_calls = (self.model_calls or 0) + 1
            self.tokens_in = _plus(self.tokens_in, usage, _IN)
            self.tokens_out = _plus(self.tokens_out, usage, _OUT)
        self.spend(cost)

    def spend(self, cost: object) -> None:
        amount = number(cost)
        if amount is not None:
            self.cost_usd = (self.cost_usd or 0.0) + amount

    def usage(self) -> RunUsage:
        """A harness that has no price for a model writes 0; tokens for nothing are an unknown price, not a saving."""
        priced = self.cost_usd or not self.tokens_in
        return RunUsage(self.model_calls, self.tokens_in, self.tokens_out, self.cost_usd if priced else None)


def _plus(total: int | None, usage: dict[str, object], keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = usage.get(key)
        if type(value) is int:
            total = (total or 0) + value
    return total
