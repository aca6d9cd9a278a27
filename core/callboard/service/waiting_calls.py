"""The questions about a client's own calls that wait for the artist. They are shown here; only the
artist decides."""

from __future__ import annotations

import json
from time import time

from callboard.calls.consent import ConsentDesk
from callboard.calls.context import AsyncToolContext, call_of
from callboard.clients.owner import may_see
from callboard.service.resources import ServedResource

WAITING = "host://waiting"


def waiting_calls(desk: ConsentDesk) -> ServedResource:
    """Return ``host://waiting``: the artist's open questions about this client's calls."""

    async def waiting(ctx: AsyncToolContext) -> str:
        asker = call_of(ctx).request.peer.owner
        told = [
            {
                "tool": question.tool,
                "why": question.why,
                "seconds_left": max(0, round(question.deadline - time())),
            }
            for question in desk.questions.values()
            if may_see(question.owner, asker)
        ]
        return json.dumps({"waiting": told, "where": desk.where}, ensure_ascii=False)

    return ServedResource(
        WAITING,
        "waiting",
        waiting,
        title="What waits for the artist",
        description="Your calls that the artist is asked about now, and where they answer.",
        mime_type="application/json",
    )
