"""A farm's work as an Open Job Description job bundle, which render managers accept. The template
follows ``jobtemplate-2023-09`` in
https://github.com/OpenJobDescription/openjd-specifications/wiki/2023-09-Template-Schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard.mapping.tasks import Task
from callboard_programs.farm.job_folder import orders_text, write_files
from callboard_programs.farm.orders import Work

TEMPLATE, ORDERS, ASSETS = "template.json", "orders.jsonl", "asset_references.json"
#: Seconds allowed for a host to start, for a host to end, and for a cancelled task to undo its
#: changes.
STARTS, ENDS, UNDONE = 180, 60, 30
#: The specification's names for amounts, each with the factor for its unit. Memory is in bytes
#: here, and in MiB in the specification.
_AMOUNTS = {
    "gpu": ("amount.worker.gpu", 1.0),
    "vcpu": ("amount.worker.vcpu", 1.0),
    "memory": ("amount.worker.memory", 1 / 2**20),
}
_HERE = "{{Session.WorkingDirectory}}"


def write_bundle(folder: Path, name: str, work: Work, tasks: Sequence[Task]) -> list[Path]:
    """Make ``folder``, and write the bundle's files into it. Return their paths. ``name`` is the
    job's name. Raises PeerError."""
    texts = {
        TEMPLATE: json.dumps(template(name, work, len(tasks)), indent=2) + "\n",
        # The manager has its own time limit, after which it ends the process.
        ORDERS: orders_text(replace(work, timeout=None), tasks),
        ASSETS: json.dumps(_assets(tasks), indent=2) + "\n",
    }
    return write_files(folder, texts)


def template(name: str, work: Work, count: int) -> Json:
    """Return the job. Each session starts the host once, and each of the ``count`` tasks is one
    call."""
    session = ["farm", "session"]
    options = _literal(work.host_options)
    run: Json = _action([*session, "task", _HERE, "{{Param.Orders}}", "{{Task.Param.Index}}"])
    run["args"] += ["--results", "{{Param.Results}}"]
    run["cancelation"] = {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": UNDONE}
    if work.timeout is not None:
        run["timeout"] = max(1, round(work.timeout))
    step: Json = {
        "name": "Tasks",
        "stepEnvironments": [
            {
                "name": "Host",
                "script": {
                    "actions": {
                        "onEnter": _action([*session, "enter", _HERE, *options], STARTS),
                        "onExit": _action([*session, "leave", _HERE], ENDS),
                    }
                },
            }
        ],
        "parameterSpace": {
            "taskParameterDefinitions": [
                {"name": "Index", "type": "INT", "range": f"0-{count - 1}" if count > 1 else "0"}
            ]
        },
        "script": {"actions": {"onRun": run}},
    }
    if work.needs:
        step["hostRequirements"] = {"amounts": [_amount(*need) for need in work.needs.items()]}
    return {
        "specificationVersion": "jobtemplate-2023-09",
        "name": name,
        "parameterDefinitions": [
            {
                "name": "Callboard",
                "type": "STRING",
                "default": "callboard",
                "description": "The callboard command, if it isn't on the path.",
            },
            _path("Orders", "FILE", "IN", ORDERS, "The call of each task."),
            _path("Results", "DIRECTORY", "OUT", "results", "A line of JSON for each task."),
        ],
        "steps": [step],
    }


def _action(args: list[str], timeout: int | None = None) -> Json:
    limit = {} if timeout is None else {"timeout": timeout}
    return {"command": "{{Param.Callboard}}", "args": args, **limit}


def _path(name: str, kind: str, flow: str, default: str, description: str) -> Json:
    return {
        "name": name,
        "type": "PATH",
        "objectType": kind,
        "dataFlow": flow,
        "default": default,
        "description": description,
    }


def _literal(options: Sequence[str]) -> list[str]:
    """Return the options. Raises PeerError for an option that the format would read as an
    expression, because the format has no way to escape it."""
    for option in options:
        if "{{" in option:
            raise PeerError(
                f"'{option}' can't be used in a template, because {{{{ begins an expression there; "
                "change it"
            )
    return list(options)


def _amount(name: str, least: float) -> Json:
    known, factor = _AMOUNTS.get(name, (None, 1.0))
    return {
        "name": known or "amount." + re.sub(r"[^a-z0-9_]", "_", name.lower()),
        "min": least * factor,
    }


def _assets(tasks: Sequence[Task]) -> Mapping[str, Any]:
    """Return the files that Deadline Cloud copies to its workers in addition to the parameters'
    files."""
    scenes = [task.file for task in tasks if task.file]
    inputs = {"filenames": scenes, "directories": []}
    return {
        "assetReferences": {
            "inputs": inputs,
            "outputs": {"directories": []},
            "referencedPaths": [],
        }
    }
