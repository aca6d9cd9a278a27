"""Parameters, their keys and templates."""

from __future__ import annotations

from . import _types as spec
from ._enums import EnumValue, exprLanguage, parmNamingScheme, parmTemplateType, stringParmType
from ._errors import OperationFailed, PermissionError
from ._geometry import Geometry
from ._session import guarded, session


class BaseKeyframe:
    def __init__(self) -> None:
        self._frame, self._value, self._expression = None, 0.0, ""

    def setFrame(self, frame):
        self._frame = float(frame)

    def frame(self):
        return self._frame

    def setExpression(self, expression, language=None):
        if language is not None and not isinstance(language, EnumValue):
            raise TypeError("an exprLanguage is needed")
        self._expression = expression

    def expression(self):
        return self._expression


class Keyframe(BaseKeyframe):
    def setValue(self, value):
        self._value = float(value)

    def setSlopeAuto(self, on):
        """Do nothing: no answer from this double depends on it."""

    def value(self):
        return self._value


class ParmTemplate:
    def __init__(self, parm, name="") -> None:
        self._parm, self._name = parm, name

    def name(self):
        return self._name

    def label(self):
        return self._name.capitalize()

    def numComponents(self):
        return len(self._parm.default) if isinstance(self._parm.default, list) else 1

    def type(self):
        return getattr(parmTemplateType, self._parm.kind)

    def tags(self):
        return dict(self._parm.tags)


class MenuParmTemplate(ParmTemplate):
    def menuItems(self):
        return self._parm.menu


class StringParmTemplate(ParmTemplate):
    def __init__(self, name, label, num_components, default_value=()) -> None:
        if num_components != 1 or default_value:
            raise NotImplementedError(
                "the double doesn't model several components, or default values"
            )
        super().__init__(spec.text(), name)

    def menuItems(self):
        return self._parm.menu

    def stringType(self):
        return getattr(stringParmType, self._parm.holds)


class _Numbers(ParmTemplate):
    def __init__(
        self, name, label, num_components, default_value=(), naming_scheme=parmNamingScheme.XYZW
    ) -> None:
        if default_value or naming_scheme is not parmNamingScheme.Base1:
            raise NotImplementedError(
                "the double doesn't model default values, or other naming schemes"
            )
        numbers = tuple(str(i) for i in range(1, num_components + 1))
        zero = [self._zero] * num_components if num_components > 1 else self._zero
        super().__init__(spec.Parm(zero, numbers, kind=self._kind), name)


class IntParmTemplate(_Numbers):
    _kind, _zero = "Int", 0


class FloatParmTemplate(_Numbers):
    _kind, _zero = "Float", 0.0


class ToggleParmTemplate(ParmTemplate):
    def __init__(self, name, label, default_value=False) -> None:
        super().__init__(spec.Parm(int(default_value), kind="Toggle"), name)


def template_of(parm, name=""):
    """Return the parameter's own template."""
    if parm.kind == "String":
        made = StringParmTemplate.__new__(StringParmTemplate)
        ParmTemplate.__init__(made, parm, name)
        return made
    return (MenuParmTemplate if parm.kind == "Menu" else ParmTemplate)(parm, name)


class ParmTemplateGroup:
    """A node's parameters, which can be extended."""

    def __init__(self, names) -> None:
        self._names, self._added = set(names), []

    def append(self, parm_template):
        if parm_template.name() in self._names:
            raise OperationFailed("There is already a parameter with that name.")
        self._names.add(parm_template.name())
        self._added.append(parm_template)


@guarded
class Parm:
    def __init__(self, node, group, index) -> None:
        self._node, self._group, self._index = node, group, index

    @property
    def _channel(self):
        return self._node._data.parms[self._group][self._index]

    @property
    def _spec(self):
        data = self._node._data
        return data.spare.get(self._group) or data.type.parm(self._group)

    def name(self):
        if isinstance(self._spec.default, list):
            return f"{self._group}{self._spec.suffixes[self._index]}"
        return self._group

    def node(self):
        return self._node

    def parmTemplate(self):
        return template_of(self._spec)

    def eval(self):
        value = session.scene.value(self._channel)
        return self._spec.menu.index(value) if self._spec.kind == "Menu" else value

    def evalAtFrame(self, frame):
        return session.scene.value(self._channel, frame)

    def evalAsString(self):
        return str(session.scene.value(self._channel))

    def evalAsNode(self):
        from ._nodes import node

        path = self._channel.value
        if not isinstance(path, str):
            raise TypeError("the parameter holds no path")
        if not path:
            return None
        return node(path) if path.startswith("/") else self._node.node(path)

    def rawValue(self):
        return str(self._channel.value)

    def unexpandedString(self):
        if self._spec.kind != "String":
            raise OperationFailed("The parameter is not a string.")
        return self._channel.value

    def isAtDefault(self, compare_temporary_defaults=True, compare_expressions=True):
        default = self._spec.default
        default = default[self._index] if isinstance(default, list) else default
        return self._channel.value == default and not self._channel.keys

    def isLocked(self):
        return self._channel.locked

    def lock(self, on):
        self._channel.locked = bool(on)

    def set(self, value, language=None, follow_parm_reference=True):
        value = self._checked(value)
        self._may_change()
        session.record("Set parameter")
        channel = self._channel
        if channel.keys:
            expressions = [e for _, e in channel.keys.values()]
            channel.keys[session.scene.frame] = (value, expressions[0])
        channel.value = value
        session.scene.count_instances(self._node._data)

    def menuItems(self):
        if not self._spec.menu:
            raise OperationFailed("The parameter is not a menu.")
        return self._spec.menu

    def _checked(self, value):
        kind, menu = self._spec.kind, self._spec.menu
        if kind == "Menu":
            if isinstance(value, int):
                value = menu[value]
            if value not in menu:
                raise OperationFailed(f"Invalid menu item '{value}'.")
            return value
        if kind == "Data":
            if not isinstance(value, Geometry):
                raise TypeError("the parameter takes geometry")
            return value
        if kind == "String":
            if not isinstance(value, str):
                raise TypeError("the parameter takes a string")
            return value
        if isinstance(value, str) or not isinstance(value, (int, float)):
            raise TypeError("the parameter takes a number")
        return int(value) if kind in ("Int", "Toggle") else float(value)

    def _may_change(self):
        self._node._may_change()
        if self._channel.locked:
            raise PermissionError("The parameter is locked.")
        if not session.scene.may_change(self._node._id, self._group):
            raise PermissionError(
                "Failed to modify node or parameter because of a permission error.  Possible causes"
                " include locked assets, takes, product permissions or user specified permissions"
            )

    def setKeyframe(self, keyframe):
        self._may_change()
        session.record("Set key")
        self._channel.keys[keyframe.frame()] = (keyframe._value, keyframe.expression())

    def keyframes(self):
        keys = []
        for frame, (value, expression) in sorted(self._channel.keys.items()):
            key = Keyframe()
            key.setFrame(frame)
            key.setValue(value)
            key.setExpression(expression, exprLanguage.Hscript)
            keys.append(key)
        return tuple(keys)

    def deleteKeyframeAtFrame(self, frame):
        if frame not in self._channel.keys:
            raise OperationFailed("There is no key there.")
        self._may_change()
        session.record("Delete key")
        channel = self._channel
        channel.value = session.scene.value(channel)
        del channel.keys[frame]

    def deleteAllKeyframes(self):
        self._may_change()
        session.record("Delete keys")
        channel = self._channel
        channel.value = session.scene.value(channel)
        channel.keys.clear()


@guarded
class ParmTuple:
    def __init__(self, node, name) -> None:
        self._node, self._name = node, name
        self._parms = [Parm(node, name, i) for i in range(len(node._data.parms[name]))]

    def __iter__(self):
        return iter(self._parms)

    def __len__(self):
        return len(self._parms)

    def __getitem__(self, index):
        return self._parms[index]

    def name(self):
        return self._name

    def parmTemplate(self):
        return template_of(self._parms[0]._spec)

    def eval(self):
        return tuple(parm.eval() for parm in self._parms)

    def isAtDefault(self, compare_temporary_defaults=True, compare_expressions=True):
        return all(parm.isAtDefault() for parm in self._parms)

    def set(self, value, language=None, follow_parm_reference=True):
        values = list(value)
        if len(values) != len(self._parms):
            raise OperationFailed("Wrong number of values.")
        for parm in self._parms:
            parm._may_change()
        for parm, each in zip(self._parms, values, strict=True):
            parm.set(each)
