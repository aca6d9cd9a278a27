"""A FastMCP tool's context, in the form that :func:`callboard.extensions.host` needs.

It is for servers that use the ``mcp`` or ``fastmcp`` package and run in a process of their own.
Those packages call only one method on a request and one on a result's type, so this module imports
neither them nor pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callboard.errors import CallboardError


class FastMcpContext:
    """Wraps the ``ctx`` that the tool was given."""

    def __init__(self, ctx: Any) -> None:
        self._session = ctx.session

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """The capabilities that the client declared when the session was opened. Empty if they
        aren't known."""
        params = getattr(self._session, "client_params", None)
        declared = getattr(params, "capabilities", None)
        dump = getattr(declared, "model_dump", None)
        capabilities = dump(by_alias=True, exclude_none=True) if dump is not None else {}
        return capabilities if isinstance(capabilities, dict) else {}

    async def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """Return the client's answer. Raises CallboardError with the code and data of the client's
        error."""
        try:
            return await self._session.send_request(_Request(method, params), _Anything)
        except Exception as error:
            problem = getattr(error, "error", None)
            code = getattr(problem, "code", None)
            if not isinstance(code, int):
                raise
            data = getattr(problem, "data", None)
            raise CallboardError(
                str(getattr(problem, "message", ""))[:2000],
                code=code,
                data=data if isinstance(data, dict) else None,
            ) from error


class _Request:
    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self.params = dict(params)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {"method": self.method, "params": self.params}


class _Anything:
    """A result type that accepts any result unchanged."""

    @classmethod
    def model_validate(cls, value: Any, **options: Any) -> Any:
        return value
