"""What was asked, what came of it, and what could not be done: kept on this machine.

``model`` says what a record is, ``redaction`` what never reaches the disk, ``journal`` and
``store`` how it gets there, ``reader`` how it is read back, ``report`` and ``report_html``
what it adds up to, ``exporter`` how it leaves the machine where that is asked for.
"""
