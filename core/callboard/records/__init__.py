"""The calls that were made and their results, kept on this machine.

``model`` defines a record, ``redaction`` removes data that must never reach the disk, ``journal``
and ``store`` write it, ``reader`` reads it back, and ``exporter`` sends it elsewhere when
configured. Reports on the records are in :mod:`callboard.demand`.
"""
