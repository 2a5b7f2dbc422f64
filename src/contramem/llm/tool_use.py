"""Tools that a model may call: the offers, the calls it makes, and the turns of the conversation."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc, signature
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel, ConfigDict, create_model


class ToolOffer(NamedTuple):
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments, an object."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> ToolOffer:
        """An offer made from the signature and docstring of a function."""
        schema = parameters_of(function).model_json_schema()
        return cls(function.__name__, cleandoc(function.__doc__ or ""), schema)


def parameters_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A pydantic model that validates and describes the arguments of a function."""
    parameters = signature(function, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for parameter in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


class RequestedCall(msgspec.Struct, frozen=True):
    """A call that a model asks for."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One turn of a model: text and calls. Written as JSON, it is the text of the reply to a request with tools."""

    text: str = ""
    calls: tuple[RequestedCall, ...] = ()
    message: Any = None
    """The whole message as the client library writes it, with the reasoning and signatures that the provider wants
    back."""

    def write(self) -> str:
        return msgspec.json.encode(self).decode()


def read_tool_reply(text: str) -> ToolReply:
    """Parse what `ToolReply.write` wrote; any other text is a reply without calls."""
    try:
        return msgspec.json.decode(text, type=ToolReply)
    except msgspec.MsgspecError:
        return ToolReply(text)


class ToolTurn(NamedTuple):
    """A reply, and the answers to its calls in order."""

    reply: str
    answers: tuple[str, ...]
