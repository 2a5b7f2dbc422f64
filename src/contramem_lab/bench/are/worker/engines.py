"""The model under test: one that lives in contramem's process, or one that ARE asks with settings of ours."""

from __future__ import annotations

import os
import threading
from typing import Any

from are.simulation.agents.llm.litellm import litellm_engine
from are.simulation.agents.llm.llm_engine import LLMEngine
from are.simulation.agents.llm.llm_engine_builder import LLMEngineBuilder
from litellm.exceptions import ContextWindowExceededError

from .link import Link

MOST_FAILURES = 3
"""Requests in a row that a model may leave unanswered before the run is given up."""


class LinkedEngine(LLMEngine):
    """A model that lives in contramem's process: a scripted one, or the user's own."""

    def __init__(self, link: Link, name: str) -> None:
        super().__init__(name)
        self._link = link

    def chat_completion(self, messages: Any, stop_sequences: Any = (), **kwargs: Any) -> tuple[str, dict[str, Any]]:
        plain = [{"role": str(getattr(m["role"], "value", m["role"])), "content": m["content"]} for m in messages]
        self._link.tell("reply", messages=plain)
        reply = self._link.read()
        text = reply["text"]
        for stop in stop_sequences:
            text = text.split(stop)[0]
        return text, {"completion_duration": reply.get("seconds", 0.0), **reply.get("usage", {})}


class LinkedEngineBuilder(LLMEngineBuilder):
    def __init__(self, link: Link) -> None:
        self._link = link

    def create_engine(self, engine_config: Any, mock_responses: Any = None) -> Any:
        return LinkedEngine(self._link, engine_config.model_name)


class ModelRequests:
    """Every request that ARE makes to a model, the target or the judge. ARE passes no settings on, forgets how many
    tokens a reply took, and continues for 80 steps with a model that does not answer; this corrects all three."""

    def __init__(self, link: Link, job: dict[str, Any]) -> None:
        self._link = link
        self._settings = {"target": dict(job["extra"]) | _key(job["key"]), "judge": _key(job["judge"]["key"])}
        self._asking = threading.local()
        self._failures = {"target": 0, "judge": 0}
        self.unanswered: dict[str, str] = {}
        """Who did not answer the last request, and why."""
        self._complete = litellm_engine.completion
        litellm_engine.completion = self._complete_request

    def mark_target(self, engine: Any) -> Any:
        """Mark this engine's requests as the target's. The judge may be the same model."""
        ask = engine.chat_completion

        def ask_target(*args: Any, **kwargs: Any) -> Any:
            self._asking.target = True
            try:
                return ask(*args, **kwargs)
            finally:
                self._asking.target = False

        engine.chat_completion = ask_target
        return engine

    def _complete_request(self, **request: Any) -> Any:
        who = "target" if getattr(self._asking, "target", False) else "judge"
        try:
            response = self._complete(**(request | self._settings[who]))
        except ContextWindowExceededError:
            raise  # the agent's own doing
        except Exception as error:
            self._fail(who, f"{type(error).__name__}: {error}")
            raise
        self._failures[who] = 0
        self.unanswered.pop(who, None)
        if who == "target":
            used = getattr(response, "usage", None)
            tokens_in, tokens_out = getattr(used, "prompt_tokens", None), getattr(used, "completion_tokens", None)
            self._link.tell("usage", tokens_in=tokens_in, tokens_out=tokens_out)
        return response

    def _fail(self, who: str, error: str) -> None:
        self.unanswered[who] = error
        self._failures[who] += 1
        if self._failures[who] >= MOST_FAILURES:
            self._link.tell("unanswered", who=who, error=error)
            os._exit(4)


def _key(key: str | None) -> dict[str, str]:
    return {} if key is None else {"api_key": key}


class TargetEngineBuilder(LLMEngineBuilder):
    """Builds engines that ARE asks itself."""

    def __init__(self, requests: ModelRequests) -> None:
        self._requests = requests

    def create_engine(self, engine_config: Any, mock_responses: Any = None) -> Any:
        return self._requests.mark_target(super().create_engine(engine_config, mock_responses))
