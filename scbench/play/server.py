"""The web server of ``scbench play``: one page, and a small JSON interface for it.

It listens on 127.0.0.1 only. The address contains a random token, without which every path is
unknown, and the Host header must name this machine. So no other page in the browser can reach the
server. Answers and replies are graded and drawn in worker processes, never here.

Paths, all below ``/TOKEN/``::

    GET    (nothing)          the page
    GET    assets/NAME        its scripts and styles
    GET    api/start          tasks, and the item to show first
    GET    api/tasks/TASK     ids of the items of a task
    GET    api/item?id=ID     an item with its picture
    POST   api/fresh          draw an item: {"task": ..., "rung": ...}
    POST   api/checks         grade: {"id": ..., "answer": ...} or {"id": ..., "reply": ...}
    GET    api/checks/N       the verdict, or how long grading has taken so far
    DELETE api/checks/N       stop grading
    GET    api/study          the next item of a measurement, without a picture of its answer
    POST   api/study          one answer of a measurement
"""

import asyncio
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import NamedTuple

import uvicorn
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, ReleaseError, ScbenchError
from scbench.catalog import get_task
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.live import LiveGrader
from scbench.play.checking import (
    answer_picture_json,
    figure_json,
    picture_json,
    submit_answer,
    submit_reply,
    verdict_json,
)
from scbench.play.items import Items, item_json
from scbench.play.page_files import asset_names, editor_names, page_file
from scbench.play.study import Study
from scbench.report.figures import Figure

HOST = "127.0.0.1"
HOST_NAMES = [HOST, "localhost"]
TOKEN_BYTES = 16
# Maximum bytes of a request. The longest answer that a grader accepts is smaller.
MOST_BYTES = 20_000_000
# Number of verdicts that are kept for the page to fetch; older ones are dropped.
MOST_CHECKS = 50
# Seconds that a request for a verdict waits before it returns how long grading has taken.
PATIENCE = 0.5
# Kinds of files among the assets.
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Opening(NamedTuple):
    """The initial content of the page.

    Attributes:
        item: id of the first item; empty in a measurement.
        reply: a model's reply to check immediately; empty if there is none.
    """

    item: str
    reply: str = ""


class Check(NamedTuple):
    """An answer that is being graded, or was graded.

    Attributes:
        item: id of the item.
        since: time at which grading began, in seconds.
        outcome: what the worker returns.
    """

    item: str
    since: float
    outcome: "Future[WireOutcome]"


@dataclass
class ServerState:
    """The state of one server.

    Attributes:
        items: items to choose from.
        opening: content to show first.
        grader: grades answers in worker processes.
        study: the measurement; None if people may see verdicts.
        checks: the latest answers, by their number in addresses.
        numbers: iterator of the numbers of future checks.
    """

    items: Items
    opening: Opening
    grader: LiveGrader
    study: Study | None = None
    checks: dict[str, Check] = field(default_factory=dict)
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    def start_check(
        self, item: str, submit: Callable[[], "Future[WireOutcome]"]
    ) -> int:
        """Start grading an answer, and return the number of the check."""
        number = next(self.numbers)
        self.checks[str(number)] = Check(item, time.monotonic(), submit())
        while len(self.checks) > MOST_CHECKS:
            oldest = next(iter(self.checks))
            self.checks.pop(oldest).outcome.cancel()
        return number


def new_token() -> str:
    """Return a token for the address of a server."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def open_socket(port: int) -> socket.socket:
    """Return a socket on 127.0.0.1.

    Args:
        port: port to listen on; 0 for any free one.

    Raises:
        ReleaseError: the port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # A browser that connects before the server is ready then waits instead of being refused.
        listener.listen()
    except OSError as error:
        listener.close()
        raise ReleaseError(
            f"--port: cannot listen on port {port} ({error.strerror}); choose another, "
            "or leave --port out"
        ) from None
    return listener


def serve(state: ServerState, token: str, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C, then stop all grading."""
    config = uvicorn.Config(
        create_app(state, token),
        log_level="warning",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        state.grader.close()


def create_app(state: ServerState, token: str) -> Starlette:
    """Return the application that answers the page's requests."""
    handlers = Handlers(state)
    routes = [
        Route("/", handlers.page),
        Route("/assets/{name:path}", handlers.asset_file),
        Route("/api/start", handlers.start),
        Route("/api/tasks/{task}", handlers.task_items),
        Route("/api/item", handlers.item),
        Route("/api/fresh", handlers.fresh, methods=["POST"]),
        Route("/api/checks", handlers.begin_check, methods=["POST"]),
        Route("/api/checks/{number}", handlers.verdict, methods=["GET"]),
        Route("/api/checks/{number}", handlers.stop_check, methods=["DELETE"]),
        Route("/api/checks/{number}/picture", handlers.answer_picture),
        Route("/api/study", handlers.study_step, methods=["GET"]),
        Route("/api/study", handlers.study_answer, methods=["POST"]),
    ]
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOST_NAMES)],
        exception_handlers={
            HTTPException: http_problem,
            ScbenchError: scbench_problem,
        },
    )


class Handlers:
    """The answers to requests."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def page(self, _request: Request) -> Response:
        """Return the page."""
        return text_response(page_file("index.html"), ".html")

    async def asset_file(self, request: Request) -> Response:
        """Return a script or style sheet."""
        name = request.path_params["name"]
        if name not in asset_names():
            raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no file {name}")
        return text_response(page_file(name), name[name.rindex(".") :])

    async def start(self, _request: Request) -> Response:
        """Return the tasks, and the content to show first."""
        tasks: list[JsonValue] = []
        for name in self._state.items.tasks:
            task = get_task(name)
            tasks.append({"id": name, "title": task.title, "bucket": task.bucket})
        return json_response(
            {
                "tasks": tasks,
                "item": self._state.opening.item,
                "reply": self._state.opening.reply,
                "release": self._state.items.release.version,
                "measures": self._state.study is not None,
                "editors": list(editor_names()),
            }
        )

    async def task_items(self, request: Request) -> Response:
        """Return the ids of a task's items."""
        self._refuse_in_study()
        task = request.path_params["task"]
        items = await run_in_threadpool(self._state.items.of_task, task)
        rungs: dict[str, JsonValue] = {}
        for rung, ids in items.rungs.items():
            rungs[str(rung)] = list(ids)
        return json_response({"release": list(items.release), "rungs": rungs})

    async def item(self, request: Request) -> Response:
        """Return an item with its picture."""
        self._refuse_in_study()
        name = request.query_params.get("id", "")
        return await run_in_threadpool(self._item_response, name)

    async def fresh(self, request: Request) -> Response:
        """Draw an item and return it like any other."""
        self._refuse_in_study()
        values = await json_body(request)
        task = values.get("task")
        rung = values.get("rung")
        if not isinstance(task, str):
            raise HTTPException(HTTPStatus.BAD_REQUEST, "task: give a task")
        if rung is not None and (not isinstance(rung, int) or isinstance(rung, bool)):
            raise HTTPException(HTTPStatus.BAD_REQUEST, "rung: write a whole number")
        instance = await run_in_threadpool(self._state.items.draw, task, rung)
        return await run_in_threadpool(self._item_response, instance.id)

    async def begin_check(self, request: Request) -> Response:
        """Start grading an answer, or a model's whole reply."""
        self._refuse_in_study()
        values = await json_body(request)
        name = values.get("id")
        if not isinstance(name, str):
            raise HTTPException(HTTPStatus.BAD_REQUEST, "id: give an item")
        instance = await run_in_threadpool(self._state.items.instance, name)
        grader = self._state.grader
        reply = values.get("reply")

        def submit() -> "Future[WireOutcome]":
            if isinstance(reply, str):
                return submit_reply(grader, instance, reply)
            return submit_answer(grader, instance, values.get("answer"))

        number = await run_in_threadpool(self._state.start_check, name, submit)
        return json_response({"check": number})

    async def verdict(self, request: Request) -> Response:
        """Return the verdict if it is ready soon, otherwise the time that grading has taken."""
        check = self._check_of(request)
        outcome = asyncio.wrap_future(check.outcome)
        done, _ = await asyncio.wait({outcome}, timeout=PATIENCE)
        if not done:
            seconds = time.monotonic() - check.since
            return json_response({"done": False, "seconds": round(seconds, 1)})
        if check.outcome.cancelled():
            raise HTTPException(HTTPStatus.GONE, "grading was stopped")
        return json_response(
            {"done": True, "result": verdict_json(check.outcome.result())}
        )

    async def answer_picture(self, request: Request) -> Response:
        """Return the picture of a graded answer, which can take longer than the verdict."""
        check = self._check_of(request)
        if check.outcome.cancelled() or not check.outcome.done():
            raise HTTPException(HTTPStatus.CONFLICT, "there is no verdict yet")
        instance = await run_in_threadpool(self._state.items.instance, check.item)
        picture = await run_in_threadpool(
            answer_picture_json, self._state.grader, instance, check.outcome.result()
        )
        return json_response(picture)

    async def stop_check(self, request: Request) -> Response:
        """Stop grading an answer."""
        self._check_of(request).outcome.cancel()
        return json_response({})

    async def study_step(self, _request: Request) -> Response:
        """Return the state of a measurement, with the item to answer next."""
        study = self._study()
        step = study.step()
        values: dict[str, JsonValue] = {
            "number": step.number,
            "total": step.total,
            "seconds_left": step.seconds_left,
        }
        if step.instance is not None:
            # An editor draws the item itself. The picture can show more than the prompt states,
            # such as the ground that is hidden from a sniper.
            picture = figure_json(Figure())
            if step.instance.task not in editor_names():
                picture = await run_in_threadpool(
                    picture_json, self._state.grader, step.instance
                )
            values["item"] = item_json(step.instance)
            values["picture"] = picture
        return json_response(values)

    async def study_answer(self, request: Request) -> Response:
        """Record one answer of a measurement."""
        study = self._study()
        values = await json_body(request)
        name = values.get("id")
        seconds = values.get("seconds")
        if not isinstance(name, str):
            raise HTTPException(HTTPStatus.BAD_REQUEST, "id: give an item")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise HTTPException(HTTPStatus.BAD_REQUEST, "seconds must be a number")
        await run_in_threadpool(study.record, name, values.get("answer"), seconds)
        return json_response({})

    def _item_response(self, name: str) -> Response:
        instance = self._state.items.instance(name)
        values = item_json(instance)
        values["picture"] = picture_json(self._state.grader, instance)
        return json_response(values)

    def _check_of(self, request: Request) -> Check:
        check = self._state.checks.get(request.path_params["number"])
        if check is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "there is no such check")
        return check

    def _study(self) -> Study:
        if self._state.study is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "nothing is being measured")
        return self._state.study

    def _refuse_in_study(self) -> None:
        if self._state.study is not None:
            raise HTTPException(
                HTTPStatus.FORBIDDEN, "a measurement shows only its own items"
            )


async def json_body(request: Request) -> dict[str, JsonValue]:
    """Return the JSON object in a request; a predictions file could contain it, too.

    Raises:
        HTTPException: the body is too long, incomplete, or not a JSON object.
    """
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > MOST_BYTES:
                raise HTTPException(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"the answer is longer than {MOST_BYTES:,} bytes",
                )
    except ClientDisconnect:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, "the request is incomplete"
        ) from None
    try:
        values = parse_json(bytes(data))
    except JsonError as error:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, f"not valid JSON: {error}"
        ) from None
    if not isinstance(values, dict):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "send a JSON object")
    return values


def json_response(values: dict[str, JsonValue], status: int = 200) -> Response:
    """Return a JSON response that is never cached."""
    return JSONResponse(values, status, SECURITY_HEADERS)


def text_response(text: str, suffix: str) -> Response:
    """Return a file of the page."""
    return Response(text, headers=SECURITY_HEADERS, media_type=MEDIA_TYPES[suffix])


async def http_problem(_request: Request, error: Exception) -> Response:
    """Return the message for a failed request."""
    if not isinstance(error, HTTPException):
        raise error
    return json_response({"problem": error.detail}, error.status_code)


async def scbench_problem(_request: Request, error: Exception) -> Response:
    """Return the message of an error raised by our functions."""
    return json_response({"problem": str(error)}, HTTPStatus.BAD_REQUEST)
