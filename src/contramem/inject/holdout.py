"""The control group of a memory: runs without guidance, for comparison with the others."""

from __future__ import annotations

import hashlib


def is_held_out(run_id: str, share: float) -> bool:
    """Whether this run belongs to the `share` of runs without guidance. Depends on the id alone, in every process."""
    if not share:
        return False
    drawn = hashlib.sha256(b"holdout\0" + run_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(drawn[:8], "big") / 2**64 < share
