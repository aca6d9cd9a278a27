"""Parts of the snapshot, made from the server's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from callboard.bundles.installed.install import InstalledBundle
from callboard.calls.capabilities import Offer
from callboard.calls.grants import Grant
from callboard.calls.tools import Tool
from callboard.clients.book import KnownClient
from callboard.panel.status import (
    OTHER_MACHINE,
    BundleStatus,
    CapabilityStatus,
    GrantStatus,
    QuestionStatus,
    RootStatus,
    SkillStatus,
    ToolStatus,
)
from callboard.ports.host import PlugIn
from callboard.skills.catalog import KnownSkill
from callboard.skills.model import Failure, ToolDeclaration
from callboard.workspace.containment import Root

#: Prefix of the id of a question about a client that asks to connect. The client's id follows it.
NEWCOMER = "client "


class Served:
    """The tools and capabilities at one moment, in the snapshot's form."""

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        offered: tuple[str, ...] = (),
        withdrawn: frozenset[str] = frozenset(),
        offer: Offer = Offer(),  # noqa: B008 - a constant
        plug_ins: Mapping[str, PlugIn] = MappingProxyType({}),
        later: Sequence[ToolDeclaration] = (),
    ) -> None:
        """``later`` has the tools that are loaded only when they are first called."""
        self.source = tools
        self.state = (offered, withdrawn, offer)
        self.tools = tuple(
            ToolStatus(
                tool.name,
                tool.description,
                tool.skill,
                tool.required_capabilities,
                tuple(tool.missing_capabilities(offer)),
                tool.title or "",
            )
            for tool in tools
        )
        unlocks = Counter(c for tool in tools for c in set(tool.required_capabilities))
        unlocks.update(c for tool in later for c in set(tool.required_capabilities))
        self.capabilities = tuple(
            CapabilityStatus(name, True, name in withdrawn, unlocks[name]) for name in offered
        ) + tuple(
            _missing(name, name in withdrawn, unlocks[name], plug_ins.get(name))
            for name in sorted({*unlocks, *plug_ins}.difference(offered))
        )


def _missing(name: str, withdrawn: bool, unlocks: int, plug_in: PlugIn | None) -> CapabilityStatus:
    if plug_in is None:
        return CapabilityStatus(name, False, withdrawn, unlocks)
    loadable = plug_in.load is not None
    return CapabilityStatus(name, False, withdrawn, unlocks, plug_in.name, plug_in.advice, loadable)


def bundle_status(bundle: InstalledBundle, problem: str | None) -> BundleStatus:
    manifest = bundle.manifest
    required = tuple(name for name, needed in manifest.capabilities.items() if needed)
    preferred = tuple(name for name, needed in manifest.capabilities.items() if not needed)
    return BundleStatus(
        manifest.display_name or manifest.name,
        manifest.version,
        manifest.description,
        required,
        preferred,
        bundle.missing,
        problem,
    )


def skill_status(
    known: KnownSkill, missing_capabilities: tuple[str, ...], failures: Iterable[Failure]
) -> SkillStatus:
    """Return a skill's status. ``failures`` are the catalog's. Failures that name this skill are
    included, for instance when another skill with the same name isn't used."""
    skill = known.skill
    named = (failure for failure in failures if failure.skill == skill.name)
    return SkillStatus(
        skill.name,
        skill.description,
        str(skill.path),
        known.scope,
        known.loaded,
        len(skill.tools),
        tuple(f.editor_line for f in dict.fromkeys((*skill.failures, *named))),
        missing_capabilities,
        skill.when_called,
    )


def root_status(root: Root) -> RootStatus:
    return RootStatus(root.uri, root.name, root.path, root.source, root.read_only)


def newcomer(known: KnownClient) -> QuestionStatus:
    """Return the question about a client that asks to connect from another machine."""
    reported = {"address": known.asks_from, "fingerprint of its token": known.fingerprint}
    if known.asks_as:
        reported["says it is"] = known.asks_as
    why = "asks to connect from another machine, to every application on this one"
    id = NEWCOMER + known.id
    return QuestionStatus(id, "", known.name, OTHER_MACHINE, why, reported, 0.0, known.name)


def grant_status(grant: Grant) -> GrantStatus:
    name, made = grant.client.name, grant.made
    return GrantStatus(grant.id, name, grant.subject, grant.tool, grant.scope, made, grant.by)
