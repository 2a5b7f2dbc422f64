"""Waits for connections, and runs one job in a child process for each."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from typing import Any

from are.simulation.scenario_runner import ScenarioRunner
from are.simulation.scenarios.config import ScenarioRunnerConfig

from .engines import ModelRequests
from .hooks import GuidedAgentBuilder
from .link import Link
from .scenario import fill_templates_once, load_scenario

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run(link: Link, job: dict[str, Any]) -> None:
    requests = ModelRequests(link, job)
    scenario = load_scenario(job)
    tags = [str(getattr(tag, "value", tag)) for tag in scenario.tags or ()]
    link.tell("loaded", scenario_id=scenario.scenario_id, tags=tags)
    config = ScenarioRunnerConfig(
        agent="default",
        model=job["model"],
        model_provider=job["provider"],
        endpoint=job["url"],
        export=True,
        output_dir=job["out"],
        trace_dump_format="both",
        max_turns=None if job["scenario"].endswith(".json") else 1,
        use_custom_logger=False,
    )
    result = ScenarioRunner(agent_builder=GuidedAgentBuilder(link, job, scenario, requests)).run(config, scenario)
    error = result.exception
    link.tell(
        "done",
        success=result.success,
        rationale=result.rationale or "",
        exception=f"{type(error).__name__}: {error}" if error is not None else "",
        cause=str(error.__cause__ or "") if error is not None else "",
        disk=isinstance(error, OSError) and error.errno in DISK_FULL,
        exported=result.export_path,
        unanswered=requests.unanswered,
        asked=link.asked,
        waited_s=link.waited_s,
    )


def serve(path: str) -> None:
    """Wait for connections, and run one job for each in a child. Importing ARE takes seconds; a fork takes none."""
    logging.basicConfig(level=logging.CRITICAL)
    fill_templates_once()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            handle(connection)
            os._exit(0)  # threads of ARE's environment may still be running
        connection.close()


def _end_with_parent() -> None:
    sys.stdin.read()
    shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)  # it is ours alone: ARE's files and the socket are in it
    os._exit(0)


def handle(connection: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    link = Link(connection.makefile("r", encoding="utf-8"), connection.makefile("w", encoding="utf-8"))
    link.tell("process", pid=os.getpid())
    job = link.read()
    try:
        run(link, job)
    except Exception as error:
        link.tell("refused", error=f"{type(error).__name__}: {error}")
