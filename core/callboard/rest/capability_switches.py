"""The routes with which clients read the capabilities that this host offers, and with which the
user's commands turn capabilities on and off."""

from __future__ import annotations

from callboard.calls.capabilities import VOCABULARY, Capabilities
from callboard.errors import InvalidParams
from callboard.rest.problems import Unacceptable, require_local
from callboard.rest.routes import ReadRequest, RestAnswer, Route
from callboard.rest.schemas import CAPABILITIES_CHANGE

PATH = "/v1/capabilities"


def offering_routes(capabilities: Capabilities) -> tuple[Route, ...]:
    """Return the two routes. A change is treated as the artist's, like one in the panel: every
    client is notified, and the change holds for the project."""

    async def read(asked: ReadRequest) -> RestAnswer:
        return 200, capabilities.describe()

    async def change(asked: ReadRequest) -> RestAnswer:
        require_local(asked.incoming.holder, "change the offered capabilities", "capabilities")
        withdraw, restore = (asked.body.get(key, []) for key in ("withdraw", "restore"))
        offered = capabilities.offered_by_host
        known = {*VOCABULARY, *offered, *capabilities.withdrawn}
        for name in (*withdraw, *restore):
            if name not in known:
                raise InvalidParams(
                    f"there is no capability '{name[:80]}'; this host offers {', '.join(offered)}"
                )
        for name in restore:
            if name in capabilities.forbidden:
                raise Unacceptable(
                    403,
                    f"the studio's settings forbid {name}: see `callboard doctor --settings`",
                )
        for name in withdraw:
            capabilities.withdraw(name)
        for name in restore:
            capabilities.restore(name)
        return 200, capabilities.describe()

    return (
        Route("GET", PATH, "The capabilities that this host offers", read, {200: "Capabilities"}),
        Route(
            "POST",
            PATH,
            "Withdraw and restore capabilities, with the instance's own token",
            change,
            {200: "Capabilities"},
            body=CAPABILITIES_CHANGE,
            example={"withdraw": ["filesystem.write"]},
        ),
    )
