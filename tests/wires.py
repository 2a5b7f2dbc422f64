"""How the providers answer, as far as we read it: for servers on this machine that speak in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KEY = "key-live-0123456789abcdef0123456789abcdef"

IN, CACHED, OUT, THOUGHT = 1000, 400, 100, 60
"""Tokens of every reply: of the prompt (some of it read from the provider's cache) and of the reply (thoughts too)."""


@dataclass(frozen=True)
class Wire:
    """One provider: what it calls its model, where its client looks for the server, and how it says things."""

    model: str
    price_in: float
    price_cached: float
    price_out: float
    """Dollars per million tokens."""

    def environment(self, url: str) -> dict[str, str]:
        raise NotImplementedError

    def good(self, text: str) -> dict[str, Any]:
        raise NotImplementedError

    def truncated(self, text: str) -> dict[str, Any]:
        raise NotImplementedError

    def withheld(self) -> tuple[dict[str, Any], str]:
        """The reply is not given; and the word that we have for it."""
        raise NotImplementedError

    def asked(self, body: dict[str, Any]) -> tuple[str, str, Any]:
        """Instructions, data and schema of a request."""
        raise NotImplementedError

    def error(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "test"}}

    @property
    def cost_usd(self) -> float:
        return ((IN - CACHED) * self.price_in + CACHED * self.price_cached + OUT * self.price_out) / 1e6


class OpenAIResponses(Wire):
    def environment(self, url: str) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY}

    def _response(self, *content: dict[str, Any], status: str = "completed", why: str | None = None) -> dict[str, Any]:
        return {
            "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.5", "status": status,
            "incomplete_details": {"reason": why} if why else None, "error": None, "tools": [], "tool_choice": "auto",
            "parallel_tool_calls": True,
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": list(content)},
            ],
            "usage": {
                "input_tokens": IN, "input_tokens_details": {"cached_tokens": CACHED},
                "output_tokens": OUT, "output_tokens_details": {"reasoning_tokens": THOUGHT},
                "total_tokens": IN + OUT,
            },
        }  # fmt: skip

    def good(self, text: str) -> dict[str, Any]:
        return self._response({"type": "output_text", "text": text, "annotations": []})

    def truncated(self, text: str) -> dict[str, Any]:
        said = {"type": "output_text", "text": text, "annotations": []}
        return self._response(said, status="incomplete", why="max_output_tokens")

    def withheld(self) -> tuple[dict[str, Any], str]:
        return self._response({"type": "refusal", "refusal": "I cannot help."}), "refusal"

    def asked(self, body: dict[str, Any]) -> tuple[str, str, Any]:
        system, user = body["input"]
        return system["content"], user["content"], body["text"]["format"]["schema"]


class Anthropic(Wire):
    def environment(self, url: str) -> dict[str, str]:
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}

    def _message(self, text: str | None, ended: str) -> dict[str, Any]:
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": text}] if text is not None else [],
            "stop_reason": ended, "stop_sequence": None,
            # Anthropic counts what its cache gave apart from the rest of the prompt.
            "usage": {
                "input_tokens": IN - CACHED, "cache_read_input_tokens": CACHED, "cache_creation_input_tokens": 0,
                "output_tokens": OUT,
            },
        }  # fmt: skip

    def good(self, text: str) -> dict[str, Any]:
        return self._message(text, "end_turn")

    def truncated(self, text: str) -> dict[str, Any]:
        return self._message(text, "max_tokens")

    def withheld(self) -> tuple[dict[str, Any], str]:
        return self._message(None, "refusal"), "content_filter"

    def asked(self, body: dict[str, Any]) -> tuple[str, str, Any]:
        return body["system"], body["messages"][0]["content"][0]["text"], body["output_config"]["format"]["schema"]

    def error(self, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "test", "message": message}}


class Google(Wire):
    def environment(self, url: str) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": url, "GOOGLE_API_KEY": KEY}

    def _answer(self, ended: str, *texts: str) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": text} for text in texts]}
        return {
            "responseId": "r1", "modelVersion": "gemini-2.5-pro",
            "candidates": [{"index": 0, "finishReason": ended, "content": content}],
            # Gemini counts thoughts apart from the reply.
            "usageMetadata": {
                "promptTokenCount": IN, "cachedContentTokenCount": CACHED, "candidatesTokenCount": OUT - THOUGHT,
                "thoughtsTokenCount": THOUGHT, "totalTokenCount": IN + OUT,
            },
        }  # fmt: skip

    def good(self, text: str) -> dict[str, Any]:
        return self._answer("STOP", text)

    def truncated(self, text: str) -> dict[str, Any]:
        return self._answer("MAX_TOKENS", text)

    def withheld(self) -> tuple[dict[str, Any], str]:
        return self._answer("SAFETY"), "content_filter"

    def asked(self, body: dict[str, Any]) -> tuple[str, str, Any]:
        system, user = body["systemInstruction"], body["contents"][0]
        return system["parts"][0]["text"], user["parts"][0]["text"], body["generationConfig"]["responseJsonSchema"]

    def error(self, message: str) -> dict[str, Any]:
        return {"error": {"code": 400, "message": message, "status": "TEST"}}


WIRES = (
    OpenAIResponses("openai:gpt-5.5", 5, 0.5, 30),
    Anthropic("anthropic:claude-haiku-4-5", 1, 0.1, 5),
    Google("google:gemini-2.5-pro", 1.25, 0.125, 10),
)
