"""The kill switch. In a file of its own, so that a hook can ask it without loading anything else."""

import os

OFF = "CONTRAMEM_OFF"
"""Set to 1, runs that start from then on get no guidance at all."""


def is_switched_off() -> bool:
    return os.environ.get(OFF, "").strip().lower() not in ("", "0", "false", "no", "off")
