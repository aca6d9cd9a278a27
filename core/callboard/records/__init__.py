"""What was called and what came of it, kept on this machine.

``model`` says what a record is, ``redaction`` what never reaches the disk, ``journal`` and
``store`` how it gets there, ``reader`` how it is read back, ``exporter`` how it leaves the machine
where that is asked for. What records add up to is :mod:`callboard.demand`.
"""
