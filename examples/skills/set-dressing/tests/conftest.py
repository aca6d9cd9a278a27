from callboard_testing.pytest_plugin import *  # noqa: F403
