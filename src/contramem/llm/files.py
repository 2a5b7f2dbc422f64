"""Requests and replies as files in the format of OpenAI's batch API, so that a model behind a queue, or a person, can
answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contramem.errors import UsageError
from contramem.llm.price import Price
from contramem.llm.request import Finish, ModelReply, Request
from contramem.whole_file import replacing


def write_requests(path: Path, requests: Sequence[Request]) -> None:
    """Write one request per line, atomically."""
    try:
        with replacing(path, private=True) as file:
            file.writelines(json.dumps(as_line(request)).encode() + b"\n" for request in requests)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from error


def as_line(request: Request) -> dict[str, Any]:
    """The request as a line of the file. `custom_id` is its digest; a reply must repeat it."""
    settings = request.settings
    body: dict[str, Any] = {
        "model": request.model.rpartition(":")[2],
        "messages": [{"role": role, "content": text} for role, text in request.messages],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": request.stage, "schema": request.schema},
        },
        "max_completion_tokens": settings.max_tokens,
    }
    optional = {
        "temperature": settings.temperature, "seed": settings.seed, "reasoning_effort": settings.reasoning_effort
    }  # fmt: skip
    body |= {name: value for name, value in optional.items() if value is not None}
    return {"custom_id": request.digest, "method": "POST", "url": "/v1/chat/completions", "body": body}


def read_replies(path: Path, price: Price | None = None) -> dict[str, ModelReply]:
    """Read replies by `custom_id` from a batch output file, or from lines `{"custom_id": ..., "reply": text or JSON}`.

    Lines with a provider's error are skipped: those requests stay open.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error}).") from error
    replies = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                custom_id, reply = _reply(json.loads(line), price)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise UsageError(
                    f"{path}:{number}: not a reply ({type(error).__name__}: {error}). Each line needs `custom_id` and "
                    "either `response`, as the batch API writes it, or `reply`."
                ) from error
            if reply is not None:
                replies[custom_id] = reply
    return replies


def _reply(line: dict[str, Any], price: Price | None) -> tuple[str, ModelReply | None]:
    custom_id = str(line["custom_id"])
    if "reply" in line:
        reply = line["reply"]
        return custom_id, ModelReply(reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False))
    if line.get("error") or line["response"]["status_code"] != 200:
        return custom_id, None
    body = line["response"]["body"]
    choice = body["choices"][0]
    message, usage = choice["message"], body.get("usage") or {}
    tokens = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
    cost = price.of(*tokens) if price is not None else None
    if message.get("refusal"):
        return custom_id, ModelReply(str(message["refusal"]), "refusal", *tokens, cost)
    ended = choice.get("finish_reason")
    finish: Finish = ended if ended in ("length", "content_filter") else "stop"
    return custom_id, ModelReply(str(message.get("content") or ""), finish, *tokens, cost)
