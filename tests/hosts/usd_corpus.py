"""Small scenes like those of studios. Each scene is a dict of its files by name. Open
``shot.usda``."""

from __future__ import annotations

HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 0.01\n    upAxis = "Y"\n)\n'
PROP = (
    '#usda 1.0\n(\n    defaultPrim = "Prop"\n)\ndef Xform "Prop" (\n    kind = "component"\n)\n{\n'
    '    def Cube "Box"\n    {\n        double size = 1\n    }\n'
    '    def Scope "Looks"\n    {\n        def Material "Red"\n        {\n        }\n    }\n}\n'
)


def world(body: str) -> str:
    return HEAD + 'def Xform "World"\n{\n' + body + "}\n"


def moved(kind: str, name: str, ops: dict[str, str], resets: bool = False) -> str:
    """Return a prim with the given transform ops, each a ``type name`` with its value."""
    lines = [f"    {op} = {value}" if value[0] != "{" else f"    {op}.timeSamples = {value}"
             for op, value in ops.items()]  # fmt: skip
    names = ["!resetXformStack!"] * resets + [op.split()[-1] for op in ops]
    order = ", ".join(f'"{each}"' for each in names)
    return (
        f'def {kind} "{name}"\n{{\n' + "\n".join(lines) + "\n"
        f"    uniform token[] xformOpOrder = [{order}]\n}}\n"
    )


VARIANTS = (
    'def Xform "Hero" (\n    variants = {\n        string look = "round"\n    }\n'
    '    prepend variantSets = "look"\n)\n{\n    variantSet "look" = {\n'
    '        "round" {\n            def Sphere "Body"\n            {\n            }\n        }\n'
    '        "square" {\n            def Cube "Body"\n            {\n            }\n        }\n'
    "    }\n}\n"
)
INSTANCES = "".join(
    f'def "I{number}" (\n    instanceable = true\n    references = @prop.usda@\n)\n{{\n'
    f"    double3 xformOp:translate = ({number}, 0, 0)\n"
    '    uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    for number in range(3)
)
ODD_ROOTS = "".join(
    f'def Xform "{name}"\n{{\n    def Cube "Box"\n    {{\n    }}\n}}\n'
    for name in ("_", "World_1", "Render", "x" * 200, "ßtraße", "模型")
)

CORPUS: dict[str, dict[str, str]] = {
    "empty": {"shot.usda": "#usda 1.0\n"},
    "empty world": {"shot.usda": world("")},
    "variants": {"shot.usda": world(VARIANTS)},
    "variants of a reference": {
        "hero.usda": '#usda 1.0\n(\n    defaultPrim = "Hero"\n)\n' + VARIANTS,
        "shot.usda": world(
            'def "A" (\n    references = @hero.usda@\n    variants = {\n'
            '        string look = "square"\n    }\n)\n{\n}\n'
        ),
    },
    "references": {
        "prop.usda": PROP,
        "shot.usda": world(
            'def "A" (\n    references = @prop.usda@\n)\n{\n    over "Box"\n    {\n'
            "        double size = 3\n    }\n}\n"
            'def "B" (\n    references = @./prop.usda@\n)\n{\n}\n'
        ),
    },
    "payloads": {
        "prop.usda": PROP,
        "shot.usda": world('def "A" (\n    payload = @prop.usda@\n)\n{\n}\n'),
    },
    "missing files": {
        "shot.usda": world(
            'def Xform "A" (\n    references = @gone.usda@\n)\n{\n}\n'
            'def "B" (\n    payload = @gone.usda@\n)\n{\n}\n'
        ),
    },
    "instances": {"prop.usda": PROP, "shot.usda": world(INSTANCES)},
    "instances of a reference": {
        "prop.usda": PROP,
        "set.usda": world(INSTANCES),
        "shot.usda": '#usda 1.0\ndef "Set" (\n    references = @set.usda@\n)\n{\n}\n',
    },
    "nested sublayers": {
        "prop.usda": PROP,
        "deep/low.usda": world('def Xform "A"\n{\n    def Cube "Low"\n    {\n    }\n}\n'),
        "deep/mid.usda": "#usda 1.0\n(\n    subLayers = [@low.usda@]\n)\n"
        'over "World"\n{\n    over "A"\n    {\n        def "Ref" (\n'
        "            references = @../prop.usda@\n        )\n        {\n        }\n    }\n}\n",
        "shot.usda": '#usda 1.0\n(\n    defaultPrim = "World"\n'
        "    subLayers = [@deep/mid.usda@ (offset = 10; scale = 2)]\n)\n"
        'over "World"\n{\n    over "A"\n    {\n        def Sphere "Top"\n        {\n        }\n'
        "    }\n}\n",
    },
    "an empty layer over a whole scene": {
        "prop.usda": PROP,
        "layout.usda": world(
            'def Xform "A"\n{\n    def Cube "Box"\n    {\n    }\n}\n'
            'def "B" (\n    references = @prop.usda@\n)\n{\n}\n'
            + moved("Cube", "C", {"double3 xformOp:translate": "{ 1: (0, 0, 0), 9: (5, 0, 0) }"})
        ),
        "shot.usda": "#usda 1.0\n(\n    subLayers = [@layout.usda@]\n)\n",
    },
    "time that runs backwards": {
        "layout.usda": world(
            moved("Cube", "A", {"double3 xformOp:translate": "{ 0: (0, 0, 0), 9: (5, 0, 0) }"})
        ),
        "shot.usda": "#usda 1.0\n(\n    subLayers = [@layout.usda@]\n"
        "    timeCodesPerSecond = -1\n)\n",
    },
    "geometry without an end": {
        "shot.usda": world(
            'def Xform "Set"\n{\n    def Mesh "A"\n    {\n'
            "        point3f[] points = [(inf, 0, 0), (0, nan, 0), (0, 0, -inf)]\n"
            "        int[] faceVertexCounts = [3]\n        int[] faceVertexIndices = [0, 1, 2]\n"
            '    }\n    def Cube "Box"\n    {\n    }\n}\n'
        ),
    },
    "classes and overs": {
        "shot.usda": world('def Cube "A" (\n    inherits = </_kind>\n)\n{\n}\n')
        + 'class "_kind"\n{\n    double size = 4\n    def Sphere "Inner"\n    {\n    }\n}\n'
        'over "Nobody"\n{\n    def Cube "Unseen"\n    {\n    }\n}\n',
    },
    "internal references": {
        "shot.usda": world(
            'def Xform "A"\n{\n    def Cube "Box"\n    {\n    }\n}\n'
            'def "B" (\n    references = </World/A>\n)\n{\n}\n'
        ),
    },
    "inherits and specializes": {
        "shot.usda": HEAD + 'def Scope "World"\n{\n    def Xform "Base"\n    {\n'
        '        def Cube "Source"\n        {\n        }\n'
        '        def "Special" (\n            specializes = </World/Base/Source>\n        )\n'
        '        {\n        }\n'
        '        def "Heir" (\n            inherits = </World/Base/Source>\n        )\n'
        '        {\n        }\n    }\n'
        '    def "Copy" (\n        references = </World/Base>\n    )\n    {\n'
        '        def "Source"\n        {\n            double size = 3\n        }\n    }\n}\n'
    },
    "reset stack": {
        "shot.usda": world(
            moved("Xform", "Up", {"double3 xformOp:translate": "(0, 9, 0)"}).replace(
                "]\n}\n",
                "]\n"
                + moved("Cube", "A", {"double3 xformOp:translate": "(1, 2, 3)"}, resets=True)
                + "}\n",
            )
        ),
    },
    "animated": {
        "shot.usda": world(
            moved("Cube", "A", {"double3 xformOp:translate": "{ 1: (0, 0, 0), 9: (5, 0, 0) }"})
            + moved("Cube", "B", {"double3 xformOp:translate": "{ 5: (5, 0, 0) }"})
        ),
    },
    "other precisions": {
        "shot.usda": world(
            moved("Cube", "A", {"float3 xformOp:translate": "(1, 2, 3)"})
            + moved("Cube", "B", {"double3 xformOp:rotateXYZ": "(10, 20, 30)"})
            + moved("Cube", "C", {"half3 xformOp:scale": "(1, 2, 1)"})
        ),
    },
    "without a type": {
        "shot.usda": world(
            'def "Group"\n{\n    def Cube "A"\n    {\n    }\n    def "More"\n    {\n'
            '        def Sphere "B"\n        {\n        }\n    }\n}\n'
            'def Unheard "Of"\n{\n    def Cube "C"\n    {\n    }\n}\n'
        ),
    },
    "odd root names": {"shot.usda": "#usda 1.0\n" + ODD_ROOTS},
    "a world that moves": {
        "shot.usda": "#usda 1.0\n"
        + moved("Xform", "World", {"double3 xformOp:translate": "(1, 0, 0)"})
        + 'over "World"\n{\n}\n'.replace("over", "class").replace("World", "Other"),
    },
    "hidden and inactive": {
        "shot.usda": world(
            'def Xform "Hidden"\n{\n    token visibility = "invisible"\n    def Cube "A"\n    {\n'
            '    }\n}\ndef Xform "Off" (\n    active = false\n)\n{\n    def Cube "B"\n    {\n'
            '    }\n}\ndef Cube "Guide"\n{\n    uniform token purpose = "guide"\n}\n'
        ),
    },
    "an order of its own": {
        "shot.usda": HEAD + 'def Xform "World"\n{\n    reorder nameChildren = ["C", "A"]\n'
        + "".join(f'    def Cube "{name}"\n    {{\n    }}\n' for name in "ABC") + "}\n",
    },
}  # fmt: skip
