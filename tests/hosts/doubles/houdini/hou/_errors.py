"""Houdini's exceptions."""

from __future__ import annotations


class Error(Exception):
    def description(self) -> str:
        return type(self).__doc__ or ""

    def instanceMessage(self) -> str:
        return str(self)


class OperationFailed(Error):
    """The attempted operation failed."""


class PermissionError(Error):
    """Failed to modify node or parameter because of a permission error."""


class ObjectWasDeleted(Error):
    """Attempt to access an object that no longer exists in Houdini."""


class InvalidInput(Error):
    """The input is not valid."""


class InvalidSize(Error):
    """The size is not valid."""


class NotAvailable(Error):
    """The requested item is not available."""
