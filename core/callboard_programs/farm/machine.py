"""The memory and graphics processors that this machine offers to tasks."""

from __future__ import annotations

import shutil
import subprocess

#: Seconds allowed for the driver's program to answer.
PATIENCE = 10.0


def offers(hosts: int = 1) -> list[dict[str, float]]:
    """Return the amounts that each of ``hosts`` hosts on this machine offers: ``memory`` in bytes,
    an equal share for each host, and ``gpu``, the number of NVIDIA cards that the host has to
    itself, if there are any."""
    # Use Dask's own figure, because it respects the limits of a container or of the process.
    from distributed.system import MEMORY_LIMIT

    cards = _cards()
    shares = [cards // hosts + (number < cards % hosts) for number in range(hosts)]
    memory = float(MEMORY_LIMIT // max(1, hosts))
    return [{"memory": memory, **({"gpu": float(own)} if own else {})} for own in shares]


def _cards() -> int:
    """Return the number of cards that NVIDIA's driver lists."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return 0
    try:
        listed = subprocess.run(
            [program, "-L"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return sum(line.startswith(b"GPU ") for line in listed.stdout.splitlines())
