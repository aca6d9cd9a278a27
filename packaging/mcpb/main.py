"""The program that an application starts from the bundle: the bridge to this machine's hosts."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The client's name, which artists see, and which `callboard clients revoke` accepts.
CLIENT = "mcpb"


def main() -> "int | str":
    """Run the bridge until stdin ends. This file is also valid in older Pythons, which report the
    version that is needed."""
    if sys.version_info < (3, 10):  # noqa: UP036
        version = ".".join(map(str, sys.version_info[:3]))
        return f"callboard needs Python 3.10 or later, but {sys.executable} is {version}"
    sys.path.insert(0, str(HERE / "lib"))
    from callboard.errors import CallboardError
    from callboard_programs.cli import main as callboard

    try:
        let_in()
    except CallboardError as error:
        return f"callboard: {error.message}"
    except OSError as error:
        return f"callboard: {HERE} can't be written: {error}"
    return callboard(["stdio", "--client", CLIENT])


def let_in() -> None:
    """Give each installation of the bundle its own token. If the token is revoked, the bundle can't
    connect."""
    from callboard.clients.book import ClientBook
    from callboard.clients.kept_tokens import token_of

    mark = HERE / "let-in"
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return
    try:
        token_of(CLIENT, ClientBook())
    except BaseException:
        mark.unlink()
        raise


if __name__ == "__main__":
    sys.exit(main())
