"""A stand-in for Windows' ``winreg``, as Python documents it. It refuses what the real module
refuses: unknown arguments, rights that a reader doesn't have, and keys that are closed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

HKEY_LOCAL_MACHINE = 0x80000002
KEY_READ = 0x20019
KEY_WOW64_64KEY = 0x0100
REG_SZ, REG_EXPAND_SZ, REG_BINARY, REG_DWORD, REG_MULTI_SZ = 1, 2, 3, 4, 7
#: The type that each kind of value has in Python.
_KINDS = {REG_SZ: str, REG_EXPAND_SZ: str, REG_BINARY: bytes, REG_DWORD: int, REG_MULTI_SZ: list}


class _Key:
    def __init__(self, values: dict[str, tuple[Any, int]]) -> None:
        self.values, self.closed = values, False

    def __enter__(self) -> _Key:
        return self

    def __exit__(self, *ended: object) -> None:
        self.closed = True


class Registry:
    """The keys of the 64-bit view. Names are compared without regard to case, as in Windows."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, tuple[Any, int]]] = {}
        #: The error that opening any key raises, as if this user weren't allowed to read it.
        self.denied: OSError | None = None
        self.left_open: list[_Key] = []

    def set(self, key: str, name: str, value: Any, kind: int = REG_SZ) -> None:
        assert isinstance(value, _KINDS[kind])
        self._keys.setdefault(key.lower(), {})[name.lower()] = (value, kind)

    def module(self) -> ModuleType:
        made = ModuleType("winreg")
        names = ("HKEY_LOCAL_MACHINE", "KEY_READ", "KEY_WOW64_64KEY", "REG_SZ", "REG_MULTI_SZ")
        made.__dict__.update({name: globals()[name] for name in names})
        made.__dict__.update(OpenKey=self._open, QueryValueEx=self._query)
        return made

    def _open(self, key: int, sub_key: str, reserved: int = 0, access: int = KEY_READ) -> _Key:
        if key != HKEY_LOCAL_MACHINE or reserved != 0:
            raise OSError(6, "The handle is invalid")
        # A 32-bit Python reads a different view unless it requests this one.
        assert access == KEY_READ | KEY_WOW64_64KEY
        if "/" in sub_key or sub_key.startswith("\\"):
            raise FileNotFoundError(2, "The system cannot find the file specified")
        if self.denied is not None:
            raise self.denied
        if (values := self._keys.get(sub_key.lower())) is None:
            raise FileNotFoundError(2, "The system cannot find the file specified")
        self.left_open.append(opened := _Key(values))
        return opened

    def _query(self, key: _Key, value_name: str) -> tuple[Any, int]:
        if key.closed:
            raise OSError(6, "The handle is invalid")
        if (value := key.values.get(value_name.lower())) is None:
            raise FileNotFoundError(2, "The system cannot find the file specified")
        return value
