"""Parsers for commands' arguments that are numbers, such as seconds and counts."""

from __future__ import annotations

import argparse
import math
import threading


def port_number(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a port; give 0 to 65535")
    return int(text)


def seconds(text: str) -> float:
    """Return a number of seconds, limited to the longest time that a thread can wait."""
    value = float(text)
    if not 0 < value <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a time to wait; give seconds, such as 60")
    return value


def count(text: str) -> int:
    """Return a whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number of at least 1")
    return int(text)


def repetitions(text: str) -> int:
    """Return a number of repetitions, 0 for none."""
    return 0 if text == "0" else count(text)


def size(text: str) -> int:
    """Return the number of bytes in a size such as 500M or 4G."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    digits, unit = (
        (text[:-1], units[text[-1:].upper()]) if text[-1:].upper() in units else (text, 1)
    )
    return count(digits) * unit


def amount(text: str) -> tuple[str, float]:
    """Return a name and its amount, 1 by default."""
    name, equals, value = text.partition("=")
    try:
        number = float(value) if equals else 1.0
    except ValueError:
        number = math.nan
    if not name or not (0 < number < math.inf):
        raise argparse.ArgumentTypeError(f"{text!r} isn't an amount; give NAME or NAME=2")
    return name, number
