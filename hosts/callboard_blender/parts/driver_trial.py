"""Computes what a driver would give for other values of its variables. Nothing in the scene is set
for that, so nothing has to be set back."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from callboard.errors import HostError
from callboard_blender.application.names import scene

#: The functions and operators of expressions that Blender evaluates itself, without Python.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ("radians", "degrees", "fabs", "floor", "ceil")},
    **{name: getattr(math, name) for name in ("trunc", "sin", "cos", "tan", "asin", "acos")},
    **{name: getattr(math, name) for name in ("atan", "atan2", "exp", "log", "sqrt", "pow")},
    **{"fmod": math.fmod, "abs": abs, "int": int, "min": min, "max": max},
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "lerp": lambda a, b, x: (1 - x) * a + x * b,
    "clamp": lambda x, low=0.0, high=1.0: max(low, min(x, high)),
    "smoothstep": lambda a, b, x: (t := max(0.0, min((x - a) / (b - a), 1.0))) * t * (3 - 2 * t),
}
_OPERATORS: dict[type, Callable[..., Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.Div: operator.truediv, ast.USub: operator.neg, ast.UAdd: operator.pos},
    **{ast.Not: operator.not_, ast.Eq: operator.eq, ast.NotEq: operator.ne},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
}
_JOINS: dict[str, Callable[[list[float]], float]] = {
    "SUM": math.fsum,
    "AVERAGE": lambda values: math.fsum(values) / len(values),
    "MIN": min,
    "MAX": max,
}


def tried(curve: Any, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """Return what the driver gives if its variables have these values, and the values of all its
    variables. A variable that isn't named keeps the value of the property that it reads. Raises
    HostError where Blender's own evaluation can't be followed."""
    driver = curve.driver
    if unknown := values.keys() - driver.variables.keys():
        known = ", ".join(driver.variables.keys()) or "none"
        raise HostError(f"the driver has no variable '{min(unknown)}'; it has: {known}")
    used = {
        each.name: float(values.get(each.name, _now(each, values))) for each in driver.variables
    }
    if driver.type == "SCRIPTED" and not driver.is_simple_expression:
        raise HostError(f"'{driver.expression}' is Python code, which only Blender itself runs")
    if not len(curve.keyframe_points) and not all(_is_plain(each) for each in curve.modifiers):
        raise HostError("the driver's curve has modifiers, which change its value")
    try:
        if driver.type == "SCRIPTED":
            frame = {"frame": scene().frame_current_final}
            tree = ast.parse(driver.expression.strip(), mode="eval")
            value = float(_evaluated(tree.body, {**frame, **used}))
        else:
            value = _JOINS[driver.type]([*used.values()])
        if not math.isfinite(value):
            raise ValueError(value)
    except (ArithmeticError, LookupError, ValueError, TypeError) as error:
        raise HostError(f"the driver gives no number for these values: {error}") from None
    return (curve.evaluate(value) if len(curve.keyframe_points) else value), used


def _now(variable: Any, values: Mapping[str, float]) -> float:
    if variable.name in values:
        return 0.0
    target = variable.targets[0]
    value = None
    if variable.type == "SINGLE_PROP" and target.id is not None:
        try:
            value = target.id.path_resolve(target.data_path)
        except ValueError:
            value = None
    if not isinstance(value, bool | int | float):
        raise HostError(f"give a value for '{variable.name}' too, which reads no single property")
    return value


def _is_plain(modifier: Any) -> bool:
    """Return whether this is the modifier that each new driver has, which changes nothing."""
    return modifier.mute or (
        modifier.type == "GENERATOR"
        and modifier.mode == "POLYNOMIAL"
        and not modifier.use_additive
        and [*modifier.coefficients] == [0.0, 1.0]
    )


def _evaluated(node: Any, names: Mapping[str, float]) -> Any:
    def value_of(inner: Any) -> Any:
        return _evaluated(inner, names)

    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names[node.id] if node.id in names else {"pi": math.pi}[node.id]
        case ast.UnaryOp():
            return _OPERATORS[type(node.op)](value_of(node.operand))
        case ast.BinOp():
            return _OPERATORS[type(node.op)](value_of(node.left), value_of(node.right))
        case ast.IfExp():
            return value_of(node.body if value_of(node.test) else node.orelse)
        case ast.BoolOp():
            value = value_of(node.values[0])
            for part in node.values[1:]:
                if bool(value) == isinstance(node.op, ast.Or):
                    break
                value = value_of(part)
            return value
        case ast.Compare():
            sides = [value_of(each) for each in (node.left, *node.comparators)]
            pairs = zip(node.ops, sides, sides[1:], strict=False)
            return all(_OPERATORS[type(op)](left, right) for op, left, right in pairs)
        case ast.Call(func=ast.Name(id=name)):
            return _FUNCTIONS[name](*map(value_of, node.args))
    raise ValueError(f"'{ast.unparse(node)}' isn't plain arithmetic")
