from callboard.testing.pytest_plugin import *  # noqa: F403
