from callboard.testing.pytest_plugin import callboard_skill, callboard_skill_paths

__all__ = ["callboard_skill", "callboard_skill_paths"]
