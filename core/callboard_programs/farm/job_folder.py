"""Writes the folder of an exported job."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from callboard.errors import PeerError
from callboard.ground.full_disk import in_words
from callboard.mapping.tasks import Task
from callboard_programs.farm.orders import Work


def write_files(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Make ``folder``, and write each file under its name. Return the files' paths. Raises
    PeerError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PeerError(f"the job can't be written: {in_words(error)}") from None
    return [folder / file for file in texts]


def orders_text(work: Work, tasks: Sequence[Task]) -> str:
    """Return the orders for `callboard farm session`, one line for each task."""
    orders = (
        {"index": task.index, "file": task.file, **work.order(task, task.key)} for task in tasks
    )
    return "".join(json.dumps(order) + "\n" for order in orders)
