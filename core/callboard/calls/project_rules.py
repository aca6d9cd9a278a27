"""The artist's decisions for a project, kept across restarts: policies, grants, withdrawn
capabilities.

Each project has one small JSON file in the user's data folder. Nothing in it is secret. It isn't in
the project's own folder, where other users would share it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from callboard.calls.capabilities import Capabilities
from callboard.calls.consent import ConsentDesk
from callboard.calls.grants import ConsentPolicy, Grant, Subject, ToolOrigin
from callboard.clients.holder import TokenHolder
from callboard.ground.private_file import read_private, write_private
from callboard.workspace.projects import project_file

log = logging.getLogger(__name__)

_MOST_BYTES = 2**20
_MOST_GRANTS = 1000


class ProjectRules(NamedTuple):
    """The content of a project's rules file."""

    policies: Mapping[Subject, ConsentPolicy] = MappingProxyType({})
    grants: tuple[Grant, ...] = ()
    withdrawn: frozenset[str] = frozenset()


def rules_file(project: str) -> Path:
    """Return the path of a project's rules. The file may not exist."""
    return project_file(project, "rules")


class RuleStore:
    """Applies a project's rules, and saves the artist's decisions. Use it on the loop."""

    def __init__(self, desk: ConsentDesk, capabilities: Capabilities) -> None:
        self._desk = desk
        self._capabilities = capabilities
        self._project: str | None = None
        desk.kept.watch(self._save)
        capabilities.decided.watch(self._save)

    def use(self, project: str) -> None:
        """Use the opened project's rules. If the project has none, or its file can't be read, each
        policy is the current one or the default, whichever is stricter."""
        if project == self._project:
            return
        self._project = None
        rules = _load(project)
        self._desk.use_project(rules.policies if rules else None, rules.grants if rules else ())
        if rules is not None:
            self._capabilities.use_withdrawn(rules.withdrawn)
        self._project = project

    def _save(self) -> None:
        if self._project is None:
            return
        value = {
            "project": self._project,
            "policies": self._desk.chosen,
            "withdrawn": sorted(self._capabilities.withdrawn_by_artist),
            "grants": [_written(grant) for grant in self._desk.grants.project()],
        }
        try:
            write_private(rules_file(self._project), json.dumps(value, indent=1))
        except OSError as error:
            log.warning(
                "the artist's decisions hold until callboard ends, but can't be saved: %s", error
            )


def _load(project: str) -> ProjectRules | None:
    path = rules_file(project)
    try:
        return _parse(json.loads(read_private(path, _MOST_BYTES)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        log.warning("%s can't be used, so its project has no rules: %s", path, error)
        return None


def _parse(value: Any) -> ProjectRules:
    policies = {
        subject: policy
        for subject, policy in value["policies"].items()
        if subject in get_args(Subject) and policy in get_args(ConsentPolicy)
    }
    withdrawn = frozenset(word for word in value["withdrawn"] if isinstance(word, str))
    grants = tuple(map(_grant, value["grants"][:_MOST_GRANTS]))
    return ProjectRules(policies, grants, withdrawn)


def _grant(value: Any) -> Grant:
    texts = [value[key] for key in ("id", "name", "client", "subject", "by")]
    tool, made = value["tool"], value["made"]
    if not all(isinstance(text, str) for text in texts) or not isinstance(made, (int, float)):
        raise ValueError("a grant is malformed")
    id, name, client, subject, by = texts
    if subject not in get_args(Subject) or not isinstance(tool, (str, type(None))):
        raise ValueError("a grant is malformed")
    return Grant(
        id,
        TokenHolder(name, client),
        subject,
        tool,
        "project",
        float(made),
        by,
        origins=_origins(value.get("origins")),
    )


def _origins(value: Any) -> dict[str, ToolOrigin]:
    """Return the origins of tools. Grants from earlier versions have none, so they cover only
    shipped tools."""
    origins = {} if value is None else {name: ToolOrigin(*of) for name, of in value.items()}
    if not all(isinstance(text, str) for origin in origins.values() for text in origin):
        raise ValueError("an origin is malformed")
    return origins


def _written(grant: Grant) -> dict[str, Any]:
    return {
        "id": grant.id,
        "name": grant.client.name,
        "client": grant.client.id,
        "subject": grant.subject,
        "tool": grant.tool,
        "made": round(grant.made, 3),
        "by": grant.by,
        "origins": grant.origins,
    }
