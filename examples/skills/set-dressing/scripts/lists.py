import csv
from pathlib import Path


def read_list(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    try:
        props = [{"name": r["name"], "position": [float(r[a]) for a in "xyz"]} for r in rows]
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            "a prop list must have the columns name, x, y and z, with numbers in x, y and z"
        ) from None
    return {"props": props}
