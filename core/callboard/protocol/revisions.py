"""The MCP revisions that callboard speaks, and the features of each."""

from __future__ import annotations

from typing import NamedTuple


class Revision(NamedTuple):
    """One revision of the specification. The flags say what may be sent to a peer that speaks it.
    Fields that the peer doesn't know are left out, because it might not ignore them."""

    name: str
    #: JSON-RPC batches may be received (2025-03-26, Base Protocol, Batching; removed in
    #: 2025-06-18).
    batches: bool = False
    #: ``outputSchema``, ``structuredContent``, resource links, ``title`` (2025-06-18).
    structured_output: bool = True
    #: ``icons``, enum titles in elicitation, URL elicitation (2025-11-25).
    icons: bool = True
    #: Form elicitation (2025-06-18).
    elicitation: bool = True
    #: ``initialize`` and a session (up to 2025-11-25); otherwise every request stands alone.
    sessions: bool = True


REVISION_2025_03_26 = Revision(
    "2025-03-26",
    batches=True,
    structured_output=False,
    icons=False,
    elicitation=False,
)
REVISION_2025_06_18 = Revision("2025-06-18", icons=False)
REVISION_2025_11_25 = Revision("2025-11-25")
REVISION_2026_07_28 = Revision("2026-07-28", sessions=False)

REVISIONS = {
    revision.name: revision
    for revision in (
        REVISION_2025_03_26,
        REVISION_2025_06_18,
        REVISION_2025_11_25,
        REVISION_2026_07_28,
    )
}
NEWEST_WITH_SESSIONS = REVISION_2025_11_25


def negotiate(asked: str) -> Revision:
    """Return the requested revision if it is known and has sessions, otherwise the newest revision
    that has them (2025-11-25, Lifecycle, Version Negotiation)."""
    revision = REVISIONS.get(asked)
    return revision if revision is not None and revision.sessions else NEWEST_WITH_SESSIONS
