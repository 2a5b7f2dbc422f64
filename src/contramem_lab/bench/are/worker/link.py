"""The line to contramem's process: one JSON document per line."""

from __future__ import annotations

import json
import os
import time
from typing import Any


class Link:
    """The line to contramem's process."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer = reader, writer
        self.asked = 0
        """Questions about memory and the temporal runtime."""
        self.waited_s = 0.0
        """For the answers to them."""

    def tell(self, what: str, **fields: Any) -> None:
        self._writer.write(json.dumps({"what": what, **fields}, default=str) + "\n")
        self._writer.flush()

    def ask(self, what: str, **fields: Any) -> Any:
        began = time.perf_counter()
        self.tell(what, **fields)
        text = self.read().get("text")
        self.asked, self.waited_s = self.asked + 1, self.waited_s + time.perf_counter() - began
        return text

    def read(self) -> dict[str, Any]:
        line = self._reader.readline()
        if not line:
            os._exit(3)  # contramem's process is gone, so nobody wants this run any more
        document: dict[str, Any] = json.loads(line)
        return document
