"""Custom attributes of nodes: definitions of one parameter each."""

from __future__ import annotations

from ._objects import Node
from ._values import Array, Name, Strict, single

#: The initial value of a parameter, by its type.
BEGIN = {"boolean": False, "integer": 0, "float": 0.0, "string": "", "intTab": [], "floatTab": []}


class Definition(Strict):
    def __init__(self, name, parameter, type) -> None:
        self._name, self._parameter, self._type = name, parameter, type

    @property
    def name(self):
        return Name(self._name)


def add(node, definition):
    if not isinstance(definition, Definition) or definition._name in node._data.own:
        raise RuntimeError("-- Runtime error: can't add the custom attribute")
    type = definition._type
    node._changing().own[definition._name] = (definition._parameter, type, BEGIN[type])
    return True


def definitions(node):
    return [Definition(name, of[0], of[1]) for name, of in node._data.own.items()]


class Held(Strict):
    """One node's values for one definition."""

    def __init__(self, node, name) -> None:
        self._node, self._name = node, name

    def _own(self, name):
        parameter, type, value = Node(self._node)._data.own[self._name]
        if name.lower() != parameter.lower():
            raise AttributeError(f"-- Unknown property: {name!r}")
        return parameter, type, value

    def __getattr__(self, name):
        value = self._own(name)[2]
        return Array(*value) if isinstance(value, list) else value

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        parameter, type, _ = self._own(name)
        Node(self._node)._changing().own[self._name] = (parameter, type, _of_type(type, value))


def _of_type(type, value):
    if type.endswith("Tab"):
        if not isinstance(value, Array):
            raise RuntimeError(f"-- Unable to convert: {value} to type of {type}")
        return [
            _of_type(type.removesuffix("Tab").replace("int", "integer"), each) for each in value
        ]
    kinds = {"boolean": bool, "integer": int, "float": (int, float), "string": str}
    if not isinstance(value, kinds[type]) or (isinstance(value, bool) and type != "boolean"):
        raise RuntimeError(f"-- Unable to convert: {value} to type of {type}")
    return single(value) if type == "float" else value
