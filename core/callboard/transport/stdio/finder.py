"""Which of this machine's hosts the bridge is for: the chosen one, and later its successors."""

from __future__ import annotations

from callboard.transport import instances
from callboard.transport.instances import Instance


class HostFinder:
    """Chooses among the running instances. ``wanted`` is the beginning of an id, a kind, or None
    for the only one. Once connected it stays with that instance, and after its end with the ones
    of its kind that start later."""

    def __init__(self, wanted: str | None) -> None:
        self._wanted = wanted
        self._last: Instance | None = None
        self._seen: object = None
        #: Why there is none, for the one who calls; empty where nothing runs at all.
        self.reason = ""

    def connected(self, instance: Instance) -> None:
        self._last = instance

    def forget(self) -> None:
        """Makes the next look a real one, though no file has changed."""
        self._seen = None

    def changed(self) -> bool:
        """Whether instances came or went since the last look that found none."""
        return self._files() != self._seen

    def find(self) -> Instance | None:
        """The host to connect to, if it runs. Takes up to two seconds where one is silent."""
        files = self._files()
        running = instances.listed()
        serving = [entry.instance for entry in running if entry.state == "serving"]
        silent = [entry.instance for entry in running if entry.state != "serving"]
        chosen = self._choose(serving)
        self._seen = files
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            self.reason = f"several run, so name one with --instance: {_names(chosen)}"
        elif silent and self._choose(silent):
            self.reason = f"{_names(silent)} runs, but does not answer now"
            self.forget()
        elif serving:
            awaited = self._last.kind if self._last is not None else self._wanted
            self.reason = f"waiting for {awaited}; running: {_names(serving)}"
        else:
            self.reason = ""
        return None

    def _choose(self, running: list[Instance]) -> list[Instance]:
        last = self._last
        if last is None:
            wanted = self._wanted
            return [
                i for i in running if wanted is None or i.id.startswith(wanted) or i.kind == wanted
            ]
        for instance in running:
            if instance.id == last.id:
                return [instance]
        later = [i for i in running if i.kind == last.kind and i.started >= last.started]
        return sorted(later, key=lambda instance: instance.started)[-1:]

    @staticmethod
    def _files() -> object:
        files = []
        for path in instances.folder().glob("*.json"):
            try:
                files.append((path.name, path.stat().st_mtime_ns))
            except OSError:
                continue  # withdrawn meanwhile
        return sorted(files)


def _names(instances: list[Instance]) -> str:
    return ", ".join(f"{instance.id} ({instance.kind})" for instance in instances)
