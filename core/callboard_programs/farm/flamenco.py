"""A farm's work as a job for Flamenco 3, Blender's render manager. Flamenco's job types are written
in JavaScript; see https://flamenco.blender.org/usage/job-types/. Our job type contains no part of a
job: names and arguments stay in files, where they can't be taken for code or for variables."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from callboard.errors import InvalidParams, PeerError
from callboard.mapping.tasks import Task
from callboard_programs.farm.job_folder import orders_text, write_files
from callboard_programs.farm.orders import Work

SCRIPT, JOB, ORDERS, HOST = "callboard.js", "job.json", "orders.jsonl", "host.json"
_PLATFORMS = {"win32": "windows"}


def write_job(folder: Path, name: str, work: Work, tasks: Sequence[Task], chunk: int) -> list[Path]:
    """Make ``folder``, an absolute path, and write a job's files into it. Return the files' paths,
    the job's own file first. One Flamenco task covers ``chunk`` of our tasks. Raises PeerError."""
    if work.needs:
        raise PeerError(
            "Flamenco doesn't support amounts; leave out --need, and add a tag to job.json"
        )
    if "{" in str(folder):
        raise PeerError(
            f"{folder} can't be used in a job, because Flamenco's variables begin with {{; choose "
            "another folder"
        )
    settings = {"folder": str(folder), "calls": len(tasks), "chunk": chunk}
    job = {
        "name": name,
        "type": "callboard",
        "priority": 50,
        "submitter_platform": _PLATFORMS.get(sys.platform, sys.platform),
        "settings": {**settings, "callboard": "callboard"},
    }
    texts = {
        JOB: json.dumps(job, indent=2) + "\n",
        SCRIPT: (files("callboard_programs.farm") / "flamenco.js").read_text("utf-8"),
        ORDERS: orders_text(work, tasks),
        HOST: json.dumps({"options": list(work.host_options)}) + "\n",
    }
    return write_files(folder, texts)


def host_of(folder: Path) -> list[str]:
    """Return the options for the hosts of a job. Raises InvalidParams."""
    try:
        options: list[str] = json.loads((folder / HOST).read_text("utf-8"))["options"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidParams(f"{folder / HOST} can't be read: {error}") from None
    return options
