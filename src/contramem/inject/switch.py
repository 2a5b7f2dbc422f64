"""The kill switch. A separate file, so that a hook can check it without importing anything else."""

import os

OFF = "CONTRAMEM_OFF"
"""If set to 1, new runs get no guidance at all."""


def is_switched_off() -> bool:
    return os.environ.get(OFF, "").strip().lower() not in ("", "0", "false", "no", "off")
