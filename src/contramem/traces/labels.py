"""Labels: verdicts of people on runs, in the CSV that `--outcomes` reads."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from threading import Lock

from contramem.whole_file import replacing

COLUMNS = ("run", "passed", "label", "by")
"""An empty `passed`, for `unknown`, leaves what the trace says."""
PASSED = {"passed": "true", "failed": "false", "unknown": ""}


class Labels:
    """The labels in a file, written again whole with each one. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._rows = {row["run"]: row for row in csv.DictReader(text.splitlines()) if row.get("run")}

    @property
    def by_run(self) -> dict[str, str]:
        return {run: row.get("label") or "unknown" for run, row in self._rows.items()}

    def set(self, run: str, label: str, by: str) -> None:
        """Label a run, or take its label away with `none`."""
        with self._lock:
            self._rows.pop(run, None)
            if label in PASSED:
                self._rows[run] = {"run": run, "passed": PASSED[label], "label": label, "by": by}
            with replacing(self.path, private=True) as file:
                file.write(self.as_csv().encode())

    def as_csv(self) -> str:
        text = io.StringIO()
        table = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(self._rows.values())
        return text.getvalue()
