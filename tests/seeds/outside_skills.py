"""The skills with which the statements are tested."""

from __future__ import annotations

from pathlib import Path

from skills.skill_tree import write_skill

#: The names by which capabilities are commonly declared. For each name, there is one tool that
#: needs it.
WORDS = ("usd", "scene.read", "scene.mutate", "filesystem.read", "filesystem.write", "viewport")
IMPORT = """
from callboard import error_result, success_result

def main(path: str, _workspace_roots=None):
    if _workspace_roots is None:
        return error_result("import_usd", "no workspace roots advertised")
    try:
        return success_result("imported", path=_workspace_roots.resolve(path))
    except ValueError as error:
        return error_result("import_usd", str(error))
"""
TOOLS = """
tools:
  - name: import_usd
    description: Import a USD stage.
    required_capabilities: [usd, scene.mutate, filesystem.read]
  - name: export_usd
    description: Write the scene to a USD file.
    required_capabilities: [usd, scene.mutate, filesystem.write]
  - name: open
    description: Open a file whose path arrives resolved.
    required_capabilities: [filesystem.read]
    input_schema:
      type: object
      properties: {path: {type: string, format: workspace-path}}
  - {name: ping, description: Needs nothing.}
  - {name: wild, description: A studio's, required_capabilities: ["our farm, v2"]}
  - {name: no_files, description: Declares no files.}
"""
NEEDS = "  - {{name: needs_{}, description: Needs it., required_capabilities: [{}]}}\n"
TOOLS += "".join(NEEDS.format(word.replace(".", "_"), word) for word in WORDS)
PROMPTS = """
prompts:
  - name: bevel
    description: Bevel the selected edges.
    arguments:
      - {name: width, description: The width, required: true}
      - {name: segments, description: How many}
    template: |
      Bevel by {{width}}, {{ segments }}.
  - {name: bare, description: Takes nothing., template: "1 {{ 1 + 1 }} 2 {{width 3 {{open"}
  - {name: no_template, description: Has none.}
  - {name: no_description, template: Hello}
workflows:
  - {file: bake.workflow.yaml}
  - {file: bake.workflow.yaml, prompt_name: bake_summary}
"""
FLOW = """
name: bake
description: Bakes the proxies.
steps:
  - {id: select, tool: maya_geometry__select_edges}
  - {id: bevel, tool: maya_geometry__bevel}
"""
ONE = "name: greet\ndescription: Greet.\ntemplate: Hello {{who}}\narguments: [{name: who}]\n"
LIST = """
prompts:
  - {name: greet, description: Greet., template: "Hello {{who}}", arguments: [{name: who}]}
"""


def write_skills(folder: Path) -> None:
    """Write all of them. ``export_usd`` leaves a file behind if it is so much as imported."""
    scripts = {f"scripts/needs_{word.replace('.', '_')}.py": "def main(): pass\n" for word in WORDS}
    write_skill(
        folder,
        "maya-pipeline",
        block="dcc: maya\ntools: tools.yaml",
        files={
            "tools.yaml": TOOLS,
            "scripts/import_usd.py": IMPORT,
            "scripts/export_usd.py": "open(__file__ + '.ran', 'w')\ndef main(): pass\n",
            "scripts/open.py": "def main(path): return dict(error=None, context=dict(path=path))\n",
            "scripts/ping.py": "def main(): return 'pong'\n",
            "scripts/wild.py": "def main(): pass\n",
            "scripts/no_files.py": "def main(_workspace_roots='none'): return _workspace_roots\n",
            **scripts,
        },
    )
    files = {"prompts.yaml": PROMPTS, "bake.workflow.yaml": FLOW}
    write_skill(folder, "maya-geometry", block="prompts: prompts.yaml", files=files)
    glob = {"prompts/b.prompt.yaml": ONE, "prompts/notes.yaml": ONE.replace("greet", "unseen")}
    write_skill(folder, "from-glob", block="prompts: prompts/*.prompt.yaml", files=glob)
    only = {
        "prompts.yaml": "workflows:\n  - {file: bake.workflow.yaml}\n",
        "bake.workflow.yaml": FLOW,
    }
    write_skill(folder, "only-workflows", block="prompts: prompts.yaml", files=only)
    write_skill(folder, "only-prompts", block="prompts: p.yaml", files={"p.yaml": LIST})
    derived = {
        "tools.yaml": "tools:\n- {name: look, description: Looks.}\n",
        "scripts/look.py": "def main(): pass\n",
        "references/EXAMPLES.md": "Say {{so}}.",
        "recipes/a.md": "Stir.",
        "recipes/b.yaml": "stir: true",
        "recipes/c.toml": "stir = true",
        "recipes/d.txt": "Stir!",
        "bake.workflow.yaml": FLOW,
    }
    block = "tools: tools.yaml\nexamples: references/EXAMPLES.md\nrecipes: recipes/*\n"
    block += "workflows: '*.workflow.yaml'"
    write_skill(folder, "kitchen", block=block, files=derived)
    several = {"examples/one.md": "One.", "examples/two.md": "Two."}
    write_skill(folder, "several", block="examples: examples/*.md", files=several)
    both = {"prompts.yaml": LIST, "e.md": "E."}
    write_skill(folder, "explicit", block="prompts: prompts.yaml\nexamples: e.md", files=both)
