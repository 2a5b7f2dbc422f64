"""What a call costs. Prices come from genai-prices, a part of the `llm` extra, or from the user."""

from __future__ import annotations

from dataclasses import dataclass

from contramem.errors import UsageError


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    @property
    def in_batch(self) -> Price:
        """The price through the provider's batch service: half, for every supported provider."""
        return Price(self.input / 2, self.output / 2)

    def of(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


def price_of(model: str) -> Price | None:
    """The list price of `provider:name`. None if unknown, as for a local model."""
    try:
        from genai_prices import Usage, calc_price
    except ModuleNotFoundError:
        return None
    provider, _, name = model.rpartition(":")
    try:
        # Priced at one thousand tokens, because some prices rise with the length of the prompt.
        listed = calc_price(
            Usage(input_tokens=1000, output_tokens=1000), name, provider_id=provider.partition("-")[0] or None
        )
    except LookupError:
        return None
    return Price(float(listed.input_price) * 1000, float(listed.output_price) * 1000)


def read_price(text: str) -> Price:
    """Parse the value of --price: `IN,OUT` in dollars per million tokens."""
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != 2 or min(numbers) < 0:
        raise UsageError(f"--price takes two numbers, dollars per million tokens in and out: 1.25,10; got {text!r}.")
    return Price(*numbers)
