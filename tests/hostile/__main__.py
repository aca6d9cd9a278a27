"""Generated inputs for the wire, skills, paths, bundles and files.

    cd tests && python -m hostile --factor 100

A factor of 100 is a million inputs. The first crash, hang, access outside a root, or call without
an answer ends the run with its seed and its input.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from time import perf_counter

from hostile import files, paths, texts, wire

Room = Callable[[Random, Path], Iterator[str]]

#: The number of inputs for each room at factor 1, and their generator.
ROOMS: dict[str, tuple[int, Room]] = {
    "wire": (3_500, wire.check),
    "paths": (3_000, paths.check),
    "skills": (1_200, texts.check_skills),
    "bundles": (1_300, texts.check_bundles),
    "files": (1_000, files.check),
}
#: Seconds that some inputs may take. More time is considered a hang.
_PATIENCE = 120
_SOME = 500


def run(room: str, count: int, seed: int) -> None:
    """Run ``count`` inputs. Raises AssertionError with the last input if a guarantee is broken."""
    shown = "nothing yet"
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        inputs = ROOMS[room][1](Random(f"{room} {seed}"), Path(folder))
        try:
            for number, each in enumerate(islice(inputs, count)):
                shown = each
                if number % _SOME == 0 and sys.stderr is sys.__stderr__:
                    faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        except Exception as error:
            raise AssertionError(f"{room}, seed {seed}: {shown[:5000]}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
            inputs.close()  # type: ignore[attr-defined]


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--factor", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", choices=ROOMS, default=list(ROOMS))
    asked = parser.parse_args()
    for room in asked.rooms:
        count = round(ROOMS[room][0] * asked.factor)
        began = perf_counter()
        run(room, count, asked.seed)
        seconds = round(perf_counter() - began, 1)
        print(json.dumps({"room": room, "inputs": count, "seconds": seconds}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
