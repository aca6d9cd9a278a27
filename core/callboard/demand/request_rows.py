"""The rows that a person merged or split in the report, stored alongside the records."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from callboard.demand.request_wording import key_of, plain
from callboard.ground.private_file import read_private, write_private

log = logging.getLogger(__name__)

_FILE = "report-rows.json"
#: Maximum number of bytes in the kept file.
_MOST = 1 << 20


class RequestRows:
    """Determines which requests share a row of the report. Read it from any thread."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the folder of the records. A file that can't be read is ignored, with a
        warning."""
        self._path = folder / _FILE
        self._merged: dict[str, str] = {}
        self._split: list[str] = []
        try:
            kept = json.loads(read_private(self._path, _MOST))
            self._merged = {str(one): str(into) for one, into in kept["merged"].items()}
            self._split = [str(wording) for wording in kept["split"]]
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            log.warning("merged and split rows of the report can't be read: %s", error)

    def key(self, wording: str) -> str:
        """Return the key that all requests in one row share."""
        own = plain(wording)
        key = own if own in self._split else key_of(wording)
        return self._merged.get(key, key)

    def merge(self, wordings: Sequence[str]) -> None:
        """Merge the rows of these requests, each given by its wording, into the row of the first
        request. Raises OSError."""
        into, *others = (self.key(wording) for wording in wordings)
        joined = {key for key, target in self._merged.items() if target in others} | {*others}
        self._merged.update(dict.fromkeys(joined - {into}, into))
        self._save()

    def split(self, wording: str) -> None:
        """Give this wording a row of its own, apart from all others. Raises OSError."""
        own = plain(wording)
        if own not in self._split:
            self._split.append(own)
        self._merged.pop(own, None)
        self._save()

    def _save(self) -> None:
        kept = {"merged": self._merged, "split": self._split}
        write_private(self._path, json.dumps(kept, indent=1, ensure_ascii=False))
