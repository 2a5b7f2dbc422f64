"""Tools that a model may call: what it is offered, what it calls, and what it has said and been told so far."""

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
        """The offer that a function's signature and docstring make."""
        schema = parameters_of(function).model_json_schema()
        return cls(function.__name__, cleandoc(function.__doc__ or ""), schema)


def parameters_of(function: Callable[..., Any]) -> type[BaseModel]:
    """What the function takes, as a model that checks arguments and describes them."""
    parameters = signature(function, eval_str=True).parameters.values()
    given: dict[str, Any] = {
        parameter.name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for parameter in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **given)


class RequestedCall(msgspec.Struct, frozen=True):
    """One call that a model wants."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model said in one turn. Written as JSON it is the text of a reply to a request that offers tools."""

    text: str = ""
    calls: tuple[RequestedCall, ...] = ()
    message: Any = None
    """The whole message as the client library writes it: thoughts and signatures that the provider wants back."""

    def write(self) -> str:
        return msgspec.json.encode(self).decode()


def read_tool_reply(text: str) -> ToolReply:
    """The reply that `ToolReply.write` wrote; anything else is words without a call."""
    try:
        return msgspec.json.decode(text, type=ToolReply)
    except msgspec.MsgspecError:
        return ToolReply(text)


class ToolTurn(NamedTuple):
    """A reply, and what each of its calls was answered, in their order."""

    reply: str
    answers: tuple[str, ...]
