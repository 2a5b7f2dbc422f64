"""The control group of a memory: runs that get no guidance, so that those that do can be compared with them."""

from __future__ import annotations

import hashlib


def is_held_out(run_id: str, share: float) -> bool:
    """Is this run one of the `share` of all runs that get nothing? Depends on the id alone, in every process."""
    if not share:
        return False
    drawn = hashlib.sha256(b"holdout\0" + run_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(drawn[:8], "big") / 2**64 < share
