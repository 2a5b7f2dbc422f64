"""RecordedModel: exchanges with a real model, recorded to a file once and then replayed from it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from contramem.errors import ModelError, UsageError
from contramem.llm.request import Model, ModelReply, Request
from contramem.whole_file import make_private

FORMAT = "contramem-exchanges"
VERSION = 1


class RecordedModel:
    """Replays `path`. With a `live` model, requests that are not in the file are sent to it and recorded.

    The file is JSON lines: a header with the model's name, then one exchange per line (digest, subject, reply).
    """

    def __init__(self, path: Path, live: Model | None = None) -> None:
        self._path = path
        self._live = live
        self._lock = Lock()
        self._replies: dict[str, ModelReply] = {}
        if path.exists():
            self.name = self._read(path)
        elif live is not None:
            self.name = live.name
            header = {"format": FORMAT, "version": VERSION, "model": live.name}
            make_private(path).write_text(json.dumps(header) + "\n", encoding="utf-8")
        else:
            raise UsageError(f"{path}: there are no recorded exchanges here.")
        if live is not None and live.name != self.name:
            raise UsageError(f"{path}: holds exchanges with {self.name}, not with {live.name}. Record to another file.")

    def ask(self, request: Request) -> ModelReply:
        with self._lock:
            if request.digest in self._replies:
                return self._replies[request.digest]
        if self._live is None:
            raise ModelError(
                f"{self._path}: has no reply to this request about {request.subject} ({request.stage}). "
                "Prompts, runs or settings differ from those that were recorded."
            )
        reply = self._live.ask(request)
        line = {"digest": request.digest, "stage": request.stage, "subject": request.subject, "reply": asdict(reply)}
        with self._lock:
            self._replies[request.digest] = reply
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return reply

    def _read(self, path: Path) -> str:
        lines = path.read_text(encoding="utf-8").splitlines()
        try:
            header = json.loads(lines[0])
            if header["format"] != FORMAT:
                raise ValueError(header["format"])
            name = str(header["model"])
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(f"{path}: not a file of recorded exchanges.") from error
        if header["version"] > VERSION:
            raise UsageError(f"{path}: was recorded by a newer contramem (format {header['version']}).")
        for number, line in enumerate(lines[1:], 2):
            try:
                exchange = json.loads(line)
                self._replies[exchange["digest"]] = ModelReply(**exchange["reply"])
            except (ValueError, LookupError, TypeError) as error:
                raise UsageError(f"{path}:{number}: not an exchange ({error}).") from error
        return name
