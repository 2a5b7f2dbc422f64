"""The routes of `appworld serve environment` that a run needs.

Tested against AppWorld 0.1.3's own server and apps with a task of ours, and against a server of ours with the same
routes and two small apps. Its own tasks were not run: their data has to be downloaded separately.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from contramem.errors import UsageError


@dataclass(frozen=True)
class AppWorldServer:
    """One server. It has one world at a time, so it serves one run at a time."""

    url: str
    timeout_s: float = 120.0

    def task(self, task_id: str) -> dict[str, Any]:
        """`instruction`, `supervisor` and `datetime` of a task."""
        output: dict[str, Any] = self._request(f"/tasks/{task_id}")["output"]
        return output

    def api_docs(self) -> dict[str, Any]:
        """App by app, API by API."""
        return self._request("/api_docs")

    def initialize(self, task_id: str, experiment: str) -> dict[str, Any]:
        output: dict[str, Any] = self._post("/initialize", task_id=task_id, experiment_name=experiment)
        return output

    def execute(self, task_id: str, code: str) -> str:
        """What the cell printed, or the traceback."""
        return str(self._post("/execute", task_id=task_id, code=code))

    def task_completed(self, task_id: str) -> bool:
        return bool(self._post("/task_completed", task_id=task_id))

    def evaluate(self, task_id: str) -> dict[str, Any]:
        """`success`, `passes` and `failures`."""
        output: dict[str, Any] = self._post("/evaluate", task_id=task_id, suppress_errors=True, report=False)
        return output

    def close(self, task_id: str) -> None:
        self._post("/close", task_id=task_id)

    def _post(self, route: str, **body: Any) -> Any:
        return self._request(route, body).get("output")

    def _request(self, route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{route}", data, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
                document: dict[str, Any] = json.loads(response.read())
                return document
        except urllib.error.HTTPError as error:
            answer = error.read().decode(errors="replace")[:300]
            raise UsageError(f"AppWorld at {self.url} refuses {route} ({error.code}): {answer}") from None
        except (OSError, ValueError) as error:
            raise UsageError(
                f"AppWorld does not answer at {self.url}{route} ({error}). Start it in its own environment with "
                "`appworld serve environment --port 8000`."
            ) from None
