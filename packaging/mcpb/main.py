"""What an application starts of the bundle: the bridge to the hosts of this machine."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: What artists see of it, and what `callboard clients revoke` takes.
CLIENT = "mcpb"


def main() -> "int | str":
    """Bridges until stdin ends. Older Pythons read this file too, and so can say what they lack."""
    if sys.version_info < (3, 10):  # noqa: UP036
        version = ".".join(map(str, sys.version_info[:3]))
        return f"callboard takes Python 3.10 or later, and {sys.executable} is {version}"
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
    """Gives the bundle a token of its own, once for each time it is installed: one that was
    revoked stays out."""
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
