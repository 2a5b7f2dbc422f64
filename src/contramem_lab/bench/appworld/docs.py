"""The documentation of AppWorld's APIs, as the server returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contramem.traces.trajectory import Tool


def tools_of(docs: Mapping[str, Any]) -> tuple[Tool, ...]:
    """Every API as a tool, so that Function Cards can say only what the documentation does not."""
    return tuple(
        Tool(f"{app}.{name}", str(doc.get("description") or ""), _schema(doc.get("parameters") or ()))
        for app, apis in sorted(docs.items())
        for name, doc in sorted(apis.items())
    )


def _schema(parameters: Any) -> dict[str, Any]:
    described = {
        str(each["name"]): {"type": each.get("type") or "string", "description": str(each.get("description") or "")}
        for each in parameters
    }
    required = [str(each["name"]) for each in parameters if each.get("required")]
    return {"type": "object", "properties": described, "required": required}


def app_names(docs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(docs))
