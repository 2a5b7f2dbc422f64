"""A project's bank over MCP's streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from contramem.inject.run import Memory


class McpApp:
    """The ASGI application that serves over HTTP what `contramem mcp` serves over stdio."""

    def __init__(self, memory: Memory) -> None:
        self._app: Any = None
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from contramem.inject.mcp_server import server
        except ModuleNotFoundError:
            return
        # Host and origin have already been checked.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        made = server(memory)
        self._app = made.streamable_http_app(
            streamable_http_path="/", stateless_http=True, json_response=True, transport_security=unchecked
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        if self._app is None:
            yield
            return
        async with self._app.router.lifespan_context(self._app):
            yield

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._app is None:
            await send({"type": "http.response.start", "status": 501, "headers": []})
            await send({"type": "http.response.body", "body": b"MCP needs: pip install 'contramem[mcp]'"})
            return
        await self._app(scope, receive, send)
