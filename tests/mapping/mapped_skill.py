"""A skill installed on a farm's hosts and on the agent's own host: quick work, and work that never
ends."""

from __future__ import annotations

from pathlib import Path

from skills.skill_tree import write_skill

TOOLS = """
    tools:
      - name: square
        description: Squares.
        read_only_hint: true
        input_schema: &with_folder
          type: object
          properties:
            n: {type: integer}
            folder: {type: string, format: workspace-path}
          required: [n, folder]
          additionalProperties: false
      - name: hold
        description: Never ends.
        read_only_hint: true
        input_schema: *with_folder
      - name: code
        description: Runs code.
        required_capabilities: [script.execute]
        input_schema: {type: object}
        source_file: scripts/square.py
"""
SQUARE = """
    from pathlib import Path


    def main(n: int, folder: str) -> dict:
        with (Path(folder) / "journal.txt").open("a") as journal:
            journal.write(f"{n}\\n")
        if n == 13:
            raise ValueError("13 brings bad luck")
        return {"square": n * n}
"""
HOLD = """
    import os
    import time
    from pathlib import Path


    def main(n: int, folder: str) -> dict:
        began = Path(folder) / f"{n}.part"
        began.write_text(str(os.getpid()))
        began.rename(began.with_suffix(".began"))
        while True:
            time.sleep(0.05)
"""


def write_mapped(folder: Path) -> Path:
    """Write the skill ``maths``. Return the folder that holds it."""
    files = {"tools.yaml": TOOLS, "scripts/square.py": SQUARE, "scripts/hold.py": HOLD}
    write_skill(folder / "skills", "maths", files=files)
    return folder / "skills"
