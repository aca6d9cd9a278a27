"""Takes: each has its own values for the parameters that it includes. Only the parameters that the
current take includes can be changed. The first take includes all of them. Nodes, names and wires
belong to all takes."""

from __future__ import annotations

from ._errors import OperationFailed
from ._parms import ParmTuple
from ._session import guarded, guarded_function, session


@guarded
class Take:
    def __init__(self, name) -> None:
        self._name = name

    def __eq__(self, other):
        return isinstance(other, Take) and self._name == other._name

    def __hash__(self):
        return hash(self._name)

    @property
    def _data(self):
        return session.scene.takes[self._name]

    def name(self):
        return self._data.name

    def parent(self):
        above = self._data.parent
        return Take(above) if above is not None else None

    def isCurrent(self):
        return session.scene.take == self._data.name

    def addChildTake(self, name=None):
        if name is None or name in session.scene.takes:
            raise NotImplementedError("the double doesn't model names that Houdini chooses")
        session.record("Add Take")
        session.scene.add_take(name, self._data.name)
        return Take(name)

    def hasParmTuple(self, parm_tuple):
        return _key(parm_tuple) in self._data.held

    def parmTuples(self):
        from ._nodes import wrap

        return tuple(ParmTuple(wrap(id), name) for id, name in self._data.held)

    def addParmTuple(self, parm_tuple):
        if not self.isCurrent():
            raise OperationFailed("The take is not the current take.")
        session.record("Include Parameter")
        session.scene.include(*_key(parm_tuple))


def _key(parm_tuple):
    if not isinstance(parm_tuple, ParmTuple):
        raise TypeError("a parameter tuple is needed")
    return parm_tuple._node._id, parm_tuple._name


class _Takes:
    """``hou.takes``."""

    @staticmethod
    def rootTake():
        return Take(session.scene.first_take)

    @staticmethod
    def currentTake():
        return Take(session.scene.take)

    @staticmethod
    def take(take_name):
        return Take(take_name) if take_name in session.scene.takes else None

    @staticmethod
    def setCurrentTake(take):
        session.record("Change Take")
        session.scene.go_to_take(take.name())


for _name in ("rootTake", "currentTake", "take", "setCurrentTake"):
    _run = guarded_function(getattr(_Takes, _name), f"hou.takes.{_name}")
    setattr(_Takes, _name, staticmethod(_run))
takes = _Takes()
