"""The prompts of all loaded skills, with their names, look-up and diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from callboard.errors import InvalidParams
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.prompts.prompt import Prompt

NO_SKILLS = "No skills are loaded."
NOTHING_DECLARED = (
    "Loaded skills did not declare metadata.dcc-mcp.prompts, examples, recipes, or workflows."
)
NOTHING_READ = "Loaded skills declare prompts, but none could be read; see failures."


class UnknownPrompt(InvalidParams):
    """There is no prompt with that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown prompt: {name[:200]}; see prompts/list", data={"name": name})


@dataclass(frozen=True)
class PromptSet:
    """Prompts by served name, sorted, and the failures that occurred while they were read."""

    prompts: dict[str, Prompt]
    failures: tuple[Failure, ...] = ()
    loaded_skill_count: int = 0
    prompt_capable_skill_count: int = 0
    #: Bare name -> served names.
    _bare: dict[str, list[str]] = field(default_factory=dict)

    def find(self, name: str) -> Prompt:
        """Return a prompt by served name, or by a unique bare name. Raises InvalidParams."""
        served = self._bare.get(name, [])
        if name in self.prompts:
            return self.prompts[name]
        if len(served) == 1:
            return self.prompts[served[0]]
        if served:
            raise InvalidParams(f"several prompts are called '{name}'; use {' or '.join(served)}")
        raise UnknownPrompt(name)

    def list_entries(self) -> list[dict[str, Any]]:
        return [prompt.list_entry() for prompt in self.prompts.values()]

    def needs_diagnostics(self) -> bool:
        """Return whether ``prompts/list`` must explain what is missing."""
        return not self.prompts or bool(self.failures)

    def diagnostics(self) -> dict[str, Any]:
        """Return the value of ``dcc.prompt_diagnostics``."""
        notes: list[str] = []
        if not self.loaded_skill_count and not self.prompts:
            notes.append(NO_SKILLS)
        elif not self.prompts:
            notes.append(NOTHING_READ if self.prompt_capable_skill_count else NOTHING_DECLARED)
        elif self.failures:
            notes.append(f"{len(self.failures)} prompt references couldn't be used; see failures.")
        counts: dict[str, Any] = {
            "enabled": True,
            "loaded_skill_count": self.loaded_skill_count,
            "prompt_count": len(self.prompts),
            "prompt_capable_skill_count": self.prompt_capable_skill_count,
            "notes": notes,
        }
        if self.failures:
            counts["failures"] = [
                {"skill": f.skill, "reference": f.reference, "kind": f.kind, "message": f.message}
                for f in self.failures
            ]
        return counts


class Reads(Protocol):
    """Reads a skill's prompts, and reports what couldn't be read."""

    def read(self, skill: SkillMetadata) -> tuple[list[Prompt], list[Failure]]: ...


def declares_prompts(skill: SkillMetadata) -> bool:
    """Return whether the skill names any source of prompts."""
    return bool(skill.prompts or skill.examples or skill.recipes or skill.workflows)


def collect(
    skills: Sequence[SkillMetadata], reader: Reads, manual: Iterable[Prompt] = ()
) -> PromptSet:
    """Return all prompts of the loaded skills and those that an adapter registered."""
    by_name: dict[str, Prompt] = {}
    failures: list[Failure] = []
    for skill in sorted(skills, key=lambda one: one.name):
        prompts, failed = reader.read(skill)
        failures += failed
        for prompt in prompts:
            first = by_name.setdefault(prompt.served_name, prompt)
            if first is not prompt:
                message = f"skill '{first.skill}' already serves '{prompt.served_name}'"
                failures.append(Failure(skill.name, prompt.name, "metadata", message))
    by_name.update((prompt.served_name, prompt) for prompt in manual)
    ordered = {name: by_name[name] for name in sorted(by_name)}
    bare: dict[str, list[str]] = {}
    for name, prompt in ordered.items():
        bare.setdefault(prompt.name, []).append(name)
    capable = sum(declares_prompts(skill) for skill in skills)
    return PromptSet(ordered, tuple(failures), len(skills), capable, bare)
