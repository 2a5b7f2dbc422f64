"""The OpenAPI document of the HTTP API, made from its routes and schemas."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from contramem.server.api import MAX_LISTED, ROUTES, ApiRoute
from contramem.server.schemas import ErrorBody

_NUMBERS = {"offset": 10**8, "limit": MAX_LISTED, "before": 10**8}
_ERRORS = {
    "400": "The request can't be read",
    "401": "No token, or one that is not known",
    "403": "The token lacks the scope",
    "404": "No such project, run or card",
    "409": "Another process is writing to the bank, or a run at another task has this id",
    "413": "The body is too large",
    "415": "The body isn't JSON",
    "422": "The body or a parameter is not valid",
    "429": "Too many requests",
}


@cache
def openapi_document() -> dict[str, Any]:
    models = {route.gives for route in ROUTES} | {route.body for route in ROUTES if route.body} | {ErrorBody}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "contramem", "version": version("contramem"),
                 "description": "Procedural memory for agents: start a run, get guidance, report what happened."},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }  # fmt: skip


def _operation(route: ApiRoute) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", route.path)
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for name in names
    ]
    for name in route.query:
        schema: dict[str, Any] = {"type": "string"}
        if name in _NUMBERS:
            schema = {"type": "integer", "minimum": 0, "maximum": _NUMBERS[name]}
        parameters.append({"name": name, "in": "query", "schema": schema})
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "description": f"Needs the scope `{route.scope}`.",
        "parameters": parameters,
        "responses": {str(route.status): {"description": "Done", **_content(route.gives)}}
        | {status: {"description": what, **_content(ErrorBody)} for status, what in _ERRORS.items()},
    }
    if route.body:
        operation["requestBody"] = {"required": True, **_content(route.body)}
    return operation


def _content(model: type[BaseModel]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}}
