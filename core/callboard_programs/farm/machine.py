"""What this machine has for tasks that need it: memory and graphics processors."""

from __future__ import annotations

import shutil
import subprocess

#: Seconds for the driver's program to answer.
PATIENCE = 10.0


def offers(hosts: int = 1) -> list[dict[str, float]]:
    """For each of so many hosts that share the machine: ``memory`` in bytes, the same for all, and
    ``gpu``, how many of NVIDIA's are its own, where it has one."""
    # Dask's own: what a container or a limit of the process leaves counts too.
    from distributed.system import MEMORY_LIMIT

    cards = _cards()
    shares = [cards // hosts + (number < cards % hosts) for number in range(hosts)]
    memory = float(MEMORY_LIMIT // max(1, hosts))
    return [{"memory": memory, **({"gpu": float(own)} if own else {})} for own in shares]


def _cards() -> int:
    """As NVIDIA's driver tells; 0 where there is none."""
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
