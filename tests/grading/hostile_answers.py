"""Answers that stress each grader: the longest, largest, most crowded and most degenerate.

Each stresses the most expensive step of its grader: pairs to compare, cells to visit, digits to
keep, faces to cut. None of them is correct.
"""

import base64
import json
import math
import random
import runpy
import struct
from pathlib import Path

from scbench.catalog import get_task

GRADERS = Path(__file__).parent.parent / "graders"
HERE = [float(i % 5 == 0) for i in range(16)]
HUGE = 10**4000
TINY = 5e-324
LARGEST = 1.7976931348623157e308

# Texts that take 10 s or more; `test_polynomial_curve_fitting.py` judges them, once.
LONG_TEXTS = {"longer_numbers", "powers_of_doubles", "kept_values", "pending_values"}


def params(task_id, subtask):
    return get_task(task_id).builder().paper()[subtask].params


def reference(task_id, subtask):
    builder = get_task(task_id).builder()
    return builder.reference(builder.paper()[subtask].params).model_dump(mode="json")


def answers():
    """Yield (name, instance id, answer)."""
    for task_id, make in MAKERS.items():
        for name, subtask, answer in make():
            yield f"{task_id} {name}", f"{task_id}/{subtask:02d}", answer


def topology_enumeration():
    yield "most patterns", 0, {"configs": [[i, -i, i * i, HUGE] for i in range(2000)]}
    yield "one too many", 0, {"configs": [[0, 1, 2, 3]] * 2001}
    yield "long patterns", 0, {"configs": [[0] * 6] * 1999}


def enumerate_edges():
    yield "crowded square", 0, {"edges": [[[0, 1]] * 150_000]}
    yield "many squares", 7, {"edges": [[[i % 7, HUGE]] for i in range(2000)]}
    yield "empty squares", 0, {"edges": [[]] * 480_000}


def classify_behaviour():
    yield "too many labels", 0, {"labels": ["ambiguous"] * 480_000}


def half_subdivision_neighbours():
    most = 10 * len(params("half_subdivision_neighbours", 16).leaves)
    yield (
        "deep labels",
        16,
        {"neighbors": ["01" * 700 + "0" * (i % 50) for i in range(most)]},
    )
    yield "one long label", 16, {"neighbors": ["0" * 8_000_000]}
    yield "no digits", 16, {"neighbors": ["٠١", "\0", "", "0\n", "𝟘𝟙"] * (most // 5)}


def two_segments():
    for name, x in (
        ("tiny", TINY),
        ("large", LARGEST),
        ("long", 0.1),
        ("huge", float(10**308)),
    ):
        yield (
            name,
            26,
            {"segments": [[[x, -x], [1 / 3, x]], [[x, x], [0.1 + 0.2, 1e-17]]]},
        )


def lego_hemispherical_shell():
    def bricks(places):
        return {
            "bricks": [{"Centroid": list(p), "RotationDegrees": r} for p, r in places]
        }

    yield "all in one place", 7, bricks([((0, 0, 4.8), 0.0)] * 20_000)
    yield (
        "solid block",
        7,
        bricks(
            [
                ((32.0 * (i % 27), 16.0 * (i // 27 % 27), 4.8 + 9.6 * (i // 729)), 0.0)
                for i in range(20_000)
            ]
        ),
    )
    yield "far", 7, bricks([((LARGEST, -LARGEST, TINY), LARGEST)] * 999)


def csg_union():
    meshes = runpy.run_path(str(GRADERS / "test_csg_union.py"))["HOSTILE"]
    for name in (
        "soup",
        "globe_at_the_limit",
        "1e300",
    ):
        yield name, 16, meshes[name]()
    yield "100,000 faces", 16, meshes["100000_equal_faces"]()


def tetrahedra_shadow_projection():
    def poses(many):
        keys = ("x", "y", "z", "q0", "q1", "q2", "q3")
        return {"tetrahedrons": [dict(zip(keys, pose, strict=True)) for pose in many]}

    rng = random.Random(4)
    yield "all in one place", 19, poses([(0, 0, 0, 1, 0, 0, 0)] * 2000)
    yield (
        "all over the place",
        19,
        poses(
            [
                (
                    rng.uniform(0, 20),
                    rng.uniform(0, 20),
                    rng.uniform(0, 9),
                    math.cos(i),
                    math.sin(i),
                    0,
                    0,
                )
                for i in range(2000)
            ]
        ),
    )
    yield (
        "far",
        19,
        poses([(1e6, 1e6, LARGEST, LARGEST, LARGEST, LARGEST, LARGEST)] * 2000),
    )


def voxel_grid_projection():
    most = 20 * params("voxel_grid_projection", 5).cells
    yield (
        "most cells",
        5,
        {"voxels": [{"xyz": [i % 32, i // 32 % 32, i % 31]} for i in range(most)]},
    )
    yield "huge cells", 5, {"voxels": [{"xyz": [1e308, -0.0, TINY]}] * most}


def polynomial_curve_fitting():
    texts = runpy.run_path(str(GRADERS / "test_polynomial_curve_fitting.py"))
    for name, text in texts["HOSTILE"].items():
        if name not in LONG_TEXTS:
            yield name, 8, {"function": texts["HEAD"] + text()}
    head = texts["HEAD"]
    yield "highest powers", 8, {"function": head + "-".join(["x**512*y**512"] * 9)}
    yield "backslashes", 8, {"function": head + "\\\n" * 240_000 + "x*y"}


def delaunay_triangulation():
    n = max(range(25), key=lambda i: len(params("delaunay_triangulation", i).points))
    count = len(params("delaunay_triangulation", n).points)
    rng = random.Random(5)
    most = [rng.sample(range(count), 3) for _ in range(100)]
    yield "crossing triangles", n, {"triangles": most}
    yield "huge indices", n, {"triangles": [[HUGE, 0, 1]] * 20}
    yield "too many", n, {"triangles": [[0, 1, 2]] * 120_000}


def hamiltonian_loop():
    n = params("hamiltonian_loop", 9).size ** 2
    yield "many rounds", 9, {"steps": [{"xy": [1 + i % 2, 1]} for i in range(4 * n)]}
    yield "far", 9, {"steps": [{"xy": [HUGE - i, -HUGE]} for i in range(400)]}


def pipe_loop_fitting():
    for name, step in (
        ("one point", 0.0),
        ("nearly one point", 1e-300),
        ("a line", 1e-3),
    ):
        yield name, 39, {"points": [{"x": 1 + i * step, "y": 1} for i in range(28)]}
    star = [
        {"x": 5 + 5 * math.sin(i * 2.9), "y": 5 + 5 * math.cos(i * 2.9)}
        for i in range(28)
    ]
    yield "star", 39, {"points": star}
    yield "far", 39, {"points": [{"x": LARGEST, "y": -LARGEST}] * 9}


def hide_and_seek():
    rng = random.Random(6)
    many = [[rng.uniform(-60, 60), rng.uniform(-60, 60)] for _ in range(2000)]
    yield "crowd", 5, {"people": [{"xy": xy} for xy in many]}
    yield "one place", 5, {"people": [{"xy": [0, 0]}] * 2000}
    yield (
        "before the eye",
        5,
        {"people": [{"xy": [i * 1e-9, -40 + i * 1e-9]} for i in range(2000)]},
    )
    yield "far", 5, {"people": [{"xy": [LARGEST, TINY]}] * 2000}


def pack_rectangular_prisms():
    right = reference("pack_rectangular_prisms", 8)["boxes"]
    yield "twice", 8, {"boxes": right * 2}
    huge = {key: [HUGE * (1 + i) for i in range(3)] for key in ("XyzMin", "XyzMax")}
    yield "huge", 8, {"boxes": [huge] * len(right)}
    moved = {**right[0], "XyzMin": [c - HUGE for c in right[0]["XyzMin"]]}
    yield "huge gap", 8, {"boxes": [moved, *right[1:]]}


def boxes_as_stl(count, seed):
    """Overlapping boxes in one place, as binary STL in base64."""
    rng = random.Random(seed)
    faces = (
        "013",
        "032",
        "467",
        "475",
        "045",
        "051",
        "237",
        "276",
        "026",
        "064",
        "157",
        "173",
    )
    data = bytearray(80) + struct.pack("<I", 12 * count)
    for _ in range(count):
        low = [rng.uniform(0, 100) for _ in "xyz"]
        size = [rng.uniform(1, 100) for _ in "xyz"]
        for face in faces:
            data += bytes(12)
            for corner in map(int, face):
                bits = (corner >> 2, corner >> 1 & 1, corner & 1)
                data += struct.pack(
                    "<3f", *(a + s * b for a, s, b in zip(low, size, bits, strict=True))
                )
            data += bytes(2)
    return base64.b64encode(data).decode()


def interlocking_parts():
    def parts(kind, *contents):
        made = [
            {"fileType": kind, "fileContents": c, "transform": HERE} for c in contents
        ]
        return 0, {"parts": made}

    yield "tangled boxes", *parts("STL", boxes_as_stl(2500, 1))
    yield "crossing tangles", *parts("STL", *(boxes_as_stl(150, i) for i in range(2)))
    yield (
        "nested brackets",
        *parts("OpenSCAD", "union(){" * 3000 + "cube(1);" + "}" * 3000),
    )
    doubling = "module d(){children();children();} " + "d() " * 40 + "cube(1);"
    yield "doubling children", *parts("OpenSCAD", doubling)
    yield (
        "crossed bars",
        *parts(
            "OpenSCAD",
            "linear_extrude(2) for(i=[0:200]) {translate([2*i,0]) square([1,400]);"
            "translate([0,2*i]) square([400,1]);}",
        ),
    )
    deep = "function f(n)=n==0?0:1+f(n-1); cube(f(100000)+1);"
    yield "deep recursion", *parts("OpenSCAD", deep)
    yield "a million parts", *parts("STL", *[""] * 20_000)
    bent = {
        "fileType": "STL",
        "fileContents": boxes_as_stl(1, 1),
        "transform": [LARGEST] * 16,
    }
    yield "bent", 0, {"parts": [bent, {**bent, "transform": [TINY] * 16}] * 5}


def largest_printable_prime():
    known = reference("largest_printable_prime", 0)["numberSequence"]
    yield "longest", 0, {"numberSequence": (known * 1000)[:1000]}
    yield "one digit", 0, {"numberSequence": known[:1] * 1000}
    yield "too long", 0, {"numberSequence": known[:2] * 80_000}


def shikaku_rectangles():
    puzzle = params("shikaku_rectangles", 5)
    whole = [0, 0, puzzle.width - 1, puzzle.height - 1]
    cells = puzzle.width * puzzle.height
    yield "whole grid each time", 5, {"rectangles": [whole] * cells}
    yield "huge", 5, {"rectangles": [[0, 0, HUGE, HUGE]] * cells}


def maze_3d():
    n = params("maze_3d", 5).size
    yield (
        "flat",
        5,
        "\n".join(["A" + "5" * (n - 1), *["5" * n] * (n - 2), "5" * (n - 1) + "B"]),
    )
    yield "other digits", 5, "\n".join(["٣" * n] * n)
    yield "long", 5, "0" * 9_000_000
    yield "lines", 5, "\r\n" * (2 * n * n)
    yield "many lines", 5, {"maze": "0" + "\n" * 7_000_000 + "0"}
    yield "many rows", 5, {"maze": [""] * 400_000}


def hyper_snake():
    frame = params("hyper_snake", 12)
    free = math.prod(frame.size) - len(frame.walls)
    start = list(frame.start)
    neighbour = [*start[:-1], start[-1] + 1]
    yield (
        "to and fro",
        12,
        {"path": [{"pos": (start, neighbour)[i % 2]} for i in range(4 * free)]},
    )
    yield "far", 12, {"path": [{"pos": [HUGE] * len(start)}] * 300}
    yield "many axes", 12, {"path": [{"pos": [0] * 200_000}, {"pos": []}]}


def fluid_simulation():
    n, height = (
        params("fluid_simulation", 10).width,
        params("fluid_simulation", 10).height,
    )

    def box(low, high, material):
        return {"xyzMin": list(low), "xyzMax": list(high), "material": material}

    far = (n - 1, n - 1, height - 1)
    whole = [box((0, 0, 0), far, ("Air", "Rock")[i % 2]) for i in range(40_000)]
    yield "whole world each time", 10, {"earthworks": whole}
    comb = [box((x, 0, 0), (x, n - 1, height - 2), "Rock") for x in range(0, n, 2)]
    cells = [(x, y, height - 1) for x in range(0, n, 2) for y in range(0, n, 2)]
    floating = [box(cell, cell, "Rock") for cell in cells]
    yield "comb", 10, {"earthworks": comb}
    yield "floating rock", 10, {"earthworks": floating}
    yield "no boxes", 10, {"earthworks": [None, 7, "box", []] * 9999}


def terrain_levelling():
    heights = params("terrain_levelling", 0).heights
    n = len(heights)
    deep = [{"x": x, "y": y, "z": heights[y][x]} for y in range(3) for x in range(n)]
    yield "deepest", 0, {"blasts": deep}
    yield "a bad one first", 0, {"blasts": [{"x": HUGE, "y": 0, "z": 1}] + deep * 400}
    yield "too many", 0, {"blasts": [{"x": 0, "y": 0, "z": 1e-300}] * 20_001}
    yield "tiny", 0, {"blasts": [{"x": 0, "y": 0, "z": TINY}] * 40}


MAKERS = {
    make.__name__: make
    for make in (
        topology_enumeration,
        enumerate_edges,
        classify_behaviour,
        half_subdivision_neighbours,
        two_segments,
        lego_hemispherical_shell,
        csg_union,
        tetrahedra_shadow_projection,
        voxel_grid_projection,
        polynomial_curve_fitting,
        delaunay_triangulation,
        hamiltonian_loop,
        pipe_loop_fitting,
        hide_and_seek,
        pack_rectangular_prisms,
        interlocking_parts,
        largest_printable_prime,
        shikaku_rectangles,
        maze_3d,
        hyper_snake,
        fluid_simulation,
        terrain_levelling,
    )
}


def as_line(instance_id, sample, **fields):
    """Return a prediction as one line of bytes; floats may exceed the range of JSON."""
    row = {"id": instance_id, "model": "hostile", "sample": sample, **fields}
    return json.dumps(row).encode()
