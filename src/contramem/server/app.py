"""The server as an ASGI application: routes, and who may use them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Message, Receive, Send
from starlette.types import Scope as ConnectionScope

from contramem.errors import ContramemError
from contramem.server import api, cards, compare, preview, tasks
from contramem.server.access import COOKIE, Access, Denied
from contramem.server.api import openapi_document
from contramem.server.guard_rails import GuardRails
from contramem.server.mcp import McpApp
from contramem.server.observe import Metrics, Spans
from contramem.server.options import ServerOptions
from contramem.server.pages import Visit, render_alone
from contramem.server.project import Project
from contramem.server.tokens import Scope, TokenFile

_logger = logging.getLogger("contramem.server")


class PageRoute(NamedTuple):
    """A page of a project, and the scope that it requires."""

    path: str
    scope: Scope
    answer: Callable[[Visit], Response]
    method: str = "GET"


PAGES = (
    PageRoute("/{project}/", "read", tasks.home),
    PageRoute("/{project}/tasks", "read", tasks.tasks),
    PageRoute("/{project}/task", "read", tasks.task),
    PageRoute("/{project}/event", "read", tasks.event),
    PageRoute("/{project}/run", "read", tasks.run),
    PageRoute("/{project}/cards", "read", cards.cards),
    PageRoute("/{project}/card", "read", cards.card),
    PageRoute("/{project}/ledger", "read", cards.ledger),
    PageRoute("/{project}/search", "read", tasks.search),
    PageRoute("/{project}/injections", "read", compare.injections),
    PageRoute("/{project}/compare", "read", compare.comparison),
    PageRoute("/{project}/runs", "read", tasks.runs),
    PageRoute("/{project}/guard", "read", cards.guard),
    PageRoute("/{project}/preview", "guide", preview.preview),
    PageRoute("/{project}/label", "review", tasks.label, "POST"),
    PageRoute("/{project}/review", "review", cards.review),
    PageRoute("/{project}/decide", "review", cards.decide, "POST"),
    PageRoute("/{project}/undo", "review", cards.undo, "POST"),
)
STATIC = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}


@dataclass
class Server:
    """The state that all requests share."""

    options: ServerOptions
    projects: dict[str, Project] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)
    spans: Spans = field(default_factory=Spans)
    access: Access = field(init=False)

    def __post_init__(self) -> None:
        self.access = Access(TokenFile(self.options.tokens) if self.options.tokens else None)

    def open(self) -> None:
        for name, options in self.options.projects.items():
            self.projects[name] = Project(name, options, self.options.state, self.options.audit)

    def close(self) -> None:
        for project in self.projects.values():
            project.close()

    def project(self, request: Request) -> Project:
        name = request.path_params["project"]
        if name not in self.projects:
            raise HTTPException(404, f"there is no project {name!r}.")
        return self.projects[name]


def make_app(server: Server) -> Starlette:
    """The application for an opened server."""
    mcp = {name: McpApp(project.memory()[1]) for name, project in server.projects.items()}

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for hosted in mcp.values():
                await stack.enter_async_context(hosted.running())
            yield

    routes: list[BaseRoute] = [  # tried in this order, so the routes that agents wait for come first
        *(Route(route.path, _api(server, route), methods=[route.method], name=route.name) for route in api.ROUTES),
        Route("/", _front(server)),
        Route("/login", _log_in(server), methods=["GET", "POST"]),
        Route("/logout", _log_out(server), methods=["POST"]),
        Route("/health", _health),
        Route("/ready", _ready(server)),
        Route("/metrics", _metrics(server)),
        Route("/static/{name}", _static),
        Route("/openapi.json", _openapi),
        *(Mount(f"/mcp/{name}", _guard(server, hosted, name)) for name, hosted in mcp.items()),
        *(Route(page.path, _page(server, page), methods=[page.method]) for page in PAGES),
    ]
    handlers: dict[Any, Any] = {Denied: _deny, ContramemError: _fail, HTTPException: _http_error}
    middleware = [Middleware(GuardRails, options=server.options, metrics=server.metrics, spans=server.spans)]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers, middleware=middleware)
    app.router.redirect_slashes = True
    return app


def _page(server: Server, page: PageRoute) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        token = server.access.require(request, page.scope, request.path_params["project"])
        form = await _read_form(request, server.access) if page.method == "POST" else {}
        form_token = server.access.form_token(request)
        visit = Visit(request, server.project(request), token, form_token, server.options.show_values, form)
        return await run_in_threadpool(page.answer, visit)

    endpoint.__name__ = page.path.rpartition("/")[2] or "home"
    return endpoint


def _api(server: Server, route: api.ApiRoute) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        token = server.access.require(request, route.scope, request.path_params["project"])
        body = api.parse_body(route, await request.body(), request.headers.get("content-type", ""))
        call = api.Call(server.project(request), token, request.path_params, request.query_params)
        answer = await run_in_threadpool(route.answer, call, body) if route.slow else route.answer(call, body)
        return Response(api.encode(answer), route.status, media_type="application/json")

    endpoint.__name__ = route.name
    return endpoint


async def _read_form(request: Request, access: Access) -> dict[str, str]:
    fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=500)
    form = {name: values[0].replace("\r\n", "\n") for name, values in fields.items()}
    access.check_form(request, form.get("form_token", ""))
    return {"reason": "", **form}


def _guard(server: Server, app: McpApp, project: str) -> Any:
    async def serve(scope: ConnectionScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            server.access.require(request, "guide", project)
        except Denied as error:
            await _error(error.status, str(error))(scope, receive, send)
        else:
            # Read here, because the MCP library writes a traceback for each client that leaves in the middle of a body.
            await app(scope, _repeat(await request.body(), receive), send)

    return serve


def _repeat(body: bytes, receive: Receive) -> Receive:
    """Give the body that was already received, then what comes after it."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        return next(messages, None) or await receive()

    return receive_again


def _front(server: Server) -> Callable[[Request], Any]:
    async def front(request: Request) -> Response:
        token = server.access.who(request)
        if token is None:
            return RedirectResponse("/login", 303)
        names = [name for name in server.projects if token.allows("read", name)]
        if len(names) == 1:
            return RedirectResponse(f"/{names[0]}/", 303)
        return HTMLResponse(render_alone("projects.html", names=names))

    return front


def _log_in(server: Server) -> Callable[[Request], Any]:
    async def log_in(request: Request) -> Response:
        if request.method == "GET":
            return HTMLResponse(render_alone("login.html", problem=""))
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        session = server.access.log_in(form.get("token", [""])[0].strip())
        if session is None:
            return HTMLResponse(render_alone("login.html", problem="This token is not known here."), 401)
        response = RedirectResponse("/", 303)
        secure = request.headers.get("x-forwarded-proto") == "https" or request.url.scheme == "https"
        response.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure)
        return response

    return log_in


def _log_out(server: Server) -> Callable[[Request], Any]:
    async def log_out(request: Request) -> Response:
        server.access.log_out(request.cookies.get(COOKIE, ""))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE)
        return response

    return log_out


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _ready(server: Server) -> Callable[[Request], Any]:
    def ready(request: Request) -> Response:
        """Can every bank be read?"""
        for project in server.projects.values():
            project.store.last_decision()
        return JSONResponse({"status": "ready", "projects": len(server.projects)})

    return ready


def _metrics(server: Server) -> Callable[[Request], Any]:
    def metrics(request: Request) -> Response:
        server.access.require(request, "admin")
        gauges: dict[str, float] = {}
        for name, project in server.projects.items():
            bank = project.snapshot.bank
            gauges[f'contramem_cards{{project="{name}",kind="function"}}'] = len(bank.functions)
            gauges[f'contramem_cards{{project="{name}",kind="skill"}}'] = len(bank.skills)
            gauges[f'contramem_decisions{{project="{name}"}}'] = project.snapshot.decision
            for state, count in project.live.counts().items():
                gauges[f'contramem_runs{{project="{name}",state="{state}"}}'] = count
        return PlainTextResponse(server.metrics.text(gauges))

    return metrics


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    content = (files("contramem.server") / "static" / name).read_bytes()
    return Response(content, media_type=STATIC[name], headers={"cache-control": "max-age=3600"})


async def _openapi(request: Request) -> Response:
    return JSONResponse(openapi_document())


def _error(status: int, message: str) -> JSONResponse:
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": {"status": status, "message": message}}, status, headers)


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith(("/api/", "/mcp/")) and "text/html" in request.headers.get("accept", "")


async def _deny(request: Request, error: Denied) -> Response:
    if error.status == 401 and _wants_page(request):
        return RedirectResponse("/login", 303)
    return _refuse(request, error.status, str(error))


async def _fail(request: Request, error: ContramemError) -> Response:
    return _refuse(request, api.status_of(error), str(error))


async def _http_error(request: Request, error: HTTPException) -> Response:
    response = _refuse(request, error.status_code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


def _refuse(request: Request, status: int, message: str) -> Response:
    if not _wants_page(request):
        return _error(status, message)
    what = "There is nothing at this address." if (status, message) == (404, "Not Found") else message
    return HTMLResponse(render_alone("error.html", status=status, message=what), status)
