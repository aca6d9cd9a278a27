"""The resources of loaded skills, in the list of all resources."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from callboard.service.resources import ResourceRegistry, ServedResource
from callboard.skills.catalog import CatalogChange, SkillCatalog
from callboard.skills.model import SkillMetadata
from callboard.skills.serving.loaded_skills import LoadedSkills

log = logging.getLogger(__name__)


class SkillResources:
    """Serves the resources of loaded skills. It must be made after ``skills``, which has the
    scripts and must be notified of the catalog's changes first. Use it from any thread."""

    def __init__(
        self, catalog: SkillCatalog, skills: LoadedSkills, registry: ResourceRegistry
    ) -> None:
        self._skills = skills
        self._registry = registry
        #: URIs by skill.
        self._served: dict[str, list[str]] = {}
        self.close: Callable[[], None] = catalog.watch(self._changed)

    def _changed(self, change: CatalogChange) -> None:
        """Update the resources, under the catalog's lock. A URI that is already in use is
        skipped."""
        gone = [uri for name in change.unloaded for uri in self._served.pop(name, ())]
        add: list[ServedResource] = []
        for skill in change.loaded:
            for one in self._declared(skill):
                taken = self._registry.get(one.uri) is not None and one.uri not in gone
                if taken or any(one.uri == other.uri for other in add):
                    log.warning(
                        "%s: its resource %s isn't served: the URI is taken", skill.name, one.uri
                    )
                    continue
                add.append(one)
                self._served.setdefault(skill.name, []).append(one.uri)
        if gone or add:
            self._registry.replace(gone, add)

    def _declared(self, skill: SkillMetadata) -> list[ServedResource]:
        if not skill.resources:
            return []
        from callboard.service.declared_resources import declared_resources  # Few skills need this.

        return declared_resources(skill, partial(self._skills.entry, skill.name))
