"""Every format of parts, and parts that cannot be read."""

import base64
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from bounds import a_minute_of_work
from hypothesis import given
from hypothesis import strategies as st
from later import Later

from scbench.base.errors import CannotGrade
from scbench.builders.interlocking_parts.part_files import to_ascii_stl
from scbench.graders.interlocking_parts import printed_parts
from scbench.graders.interlocking_parts.part_meshes import count_edges, signed_volume
from scbench.graders.interlocking_parts.printed_parts import MOST_CHARACTERS, read_parts
from scbench.graders.interlocking_parts.stl_files import MOST_TRIANGLES, read_stl
from scbench.machine import sandbox

openscad_child = Later("scbench.graders.interlocking_parts.openscad_child")

TETRAHEDRON = [
    [(0, 0, 0), (0, 6, 0), (6, 0, 0)],
    [(0, 0, 0), (6, 0, 0), (0, 0, 6)],
    [(0, 0, 0), (0, 0, 6), (0, 6, 0)],
    [(6, 0, 0), (0, 6, 0), (0, 0, 6)],
]
TEXT = to_ascii_stl(TETRAHEDRON)
SLICES = [
    # A corner of the square is 5 sqrt(2) from the axis.
    ("height = 10, twist = 90", 8),  # 90 / 12 rounded up
    ("height = 10, twist = -90", 8),
    ("height = 1, twist = 30", 2),  # the path of a corner is 3.8 long
    ("height = 10, twist = 500", 32),  # limited by the path of a corner
    ("height = 10, twist = 90, $fn = 40", 10),
    ("height = 10, twist = 500, $fn = 3", 5),  # no slice turns by more than 120
    ("height = 10, twist = 90, $fa = 45", 2),
    ("height = 10, twist = 90, slices = 3", 3),
    ("height = 10, twist = 90, scale = 2", 7),
    ("height = 10, twist = 30, scale = [1, 3], $fs = 6", 3),
    ("height = 10, scale = [1, 3], $fs = 5", 4),
    ("height = 10, scale = [1, 3], $fn = 7", 7),
    ("height = 10, scale = 3, $fn = 7", 1),
]
DOUBLED = "function d(n, a) = n == 0 ? a : d(n - 1, [a, a]);"
"""Nested lists that share their parts: small in memory, but endless to traverse."""
COSTLY = [
    "for (i = [0 : 9999]) for (j = [0 : 9999]) {}",
    "function f(n) = n == 0 ? 0 : 1 + f(n - 1); cube(f(1000000));",
    "module m() { m(); } m();",
    "a = [for (i = [0 : 899999]) [i, i, i]]; cube(len(a));",
    's = "xxxxxxxxxx"; module r(s, n) { if (n > 0) r(str(s, s), n - 1); } r(s, 40); cube(1);',
    "sphere(1, $fn = 5000);",
    "linear_extrude(1, slices = 100000000) square(1);",
    "rotate_extrude($fn = 5000) translate([3, 0]) circle(1, $fn = 2000);",
    "minkowski() { sphere(9, $fn = 60); sphere(2, $fn = 60); }",
    "union() { for (i = [0 : 99]) translate([3 * i, 0, 0]) sphere(1, $fn = 60); }",
    "cube(" + "+".join(["1"] * 60_000) + ");",
    "cube(rands(0, 1, 100000000)[0]);",
    "module d() { children(); children(); } " + "d() " * 18 + "cube(1);",
    "linear_extrude(1) polygon([for (i = [0 : 9000]) [i * sin(i * 137), i * cos(i)]]);",
    "linear_extrude(1) projection() for (i = [0 : 900]) rotate([i * 7, i * 11]) cube([1, 2, 90]);",
    *(f"{DOUBLED} x = d(40, 1) {sign} d(40, 1); cube(1);" for sign in ("==", "<", "+")),
    f"{DOUBLED} x = d(18, 1) * d(18, 1); cube(1);",
    f"{DOUBLED} x = -d(40, 1); cube(1);",
    "m = [for (i = [0 : 299]) [for (j = [0 : 299]) i]]; x = [for (k = [0 : 9]) m * m]; cube(1);",
    "x = lookup(1, [0 : 1e9]); cube(1);",
    'x = len("ab") ^ ord("\U0001d11e"); cube(1);',
    "v = [for (i = [0 : 9999]) i]; x = search(v, v); cube(1);",
    'x = "abc" * ceil(1e9); cube(1);',
    f"{DOUBLED} assert(false, d(40, 1)); cube(1);",
    f'{DOUBLED} linear_extrude(1) text("a", font = d(40, 1));',
    f'linear_extrude(1) text("{"W" * 4_500}");',
]


def binary(triangles=TETRAHEDRON) -> bytes:
    rows = b"".join(
        b"\0" * 12 + np.array(triangle, "<f4").tobytes() + b"\0\0"
        for triangle in triangles
    )
    return b"solid binary".ljust(80, b" ") + len(triangles).to_bytes(4, "little") + rows


def volume(part) -> float:
    assert part.shell is not None, part.problem
    assert not any(count_edges(part.shell))
    return signed_volume(part.shell)


def scad(*sources):
    return read_parts([("OpenSCAD", source) for source in sources])


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.upper(),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\\n"),
        f"```stl\n{TEXT}```",
        TEXT.replace("normal 0 0 0", "normal nan nan nan"),
        TEXT.replace("vertex 6 0 0", "vertex 6.0e+00 0.0000001 -0"),
        base64.b64encode(TEXT.encode()).decode(),
        base64.b64encode(binary()).decode(),
        "data:model/stl;base64," + base64.b64encode(binary()).decode(),
        "\n".join(base64.encodebytes(binary()).decode().splitlines()),
    ],
)
def test_stl_formats_are_read(text):
    (part,) = read_parts([("STL", text)])
    assert volume(part) == pytest.approx(36)


@pytest.mark.parametrize(
    "text",
    [
        "", "cube(1);", "solid", "solid x\nendsolid x", "solid vertex", "AAAA", "💥" * 90,
        TEXT.replace("vertex 6 0 0", "vertex 6 0", 1), TEXT.replace("vertex 6 0 0", "", 1),
        TEXT.replace("6 0 0", "6 x 0"), TEXT.replace("6 0 0", "6 inf 0"),
        TEXT.replace("6 0 0", "6_0 0 0"), TEXT.replace("6 0 0", "\N{ARABIC-INDIC DIGIT SIX} 0 0"),
        TEXT.replace("6 0 0", "\N{FULLWIDTH DIGIT SIX} 0 0"), TEXT.replace("6 0 0", "0x6 0 0"),
        TEXT.replace("6 0 0", "1e9 0 0"), TEXT.replace("6 0 0", "nan 0 0"),
        base64.b64encode(binary()[:-1]).decode(), base64.b64encode(binary() + b"x").decode(),
        to_ascii_stl([[(0, 0, 0)] * 3] * 4),
    ],
)  # fmt: skip
def test_invalid_stl_is_reported(text):
    (part,) = read_parts([("STL", text)])
    assert part.shell is None
    assert part.problem
    assert not part.too_much


def openscad_2021_volumes():
    """Return programs that the library draws differently, with their volumes in OpenSCAD 2021."""
    quarter = ring(40, 5, 7, 2) / 4
    cut = "difference() { cube(40, true); rotate_extrude($fn = 4, angle = -90) square([7, 2]); }"
    flat = "linear_extrude(height = 0) square(1); linear_extrude(height = -1) square(1); cube(2);"
    return [
        # Full turns, on either side of the axis; 5 and 30 segments.
        ("rotate_extrude() translate([5, 0]) square(2);", ring(30 - 8, 5, 7, 2)),
        ("rotate_extrude($fn = 5) translate([5, 0]) square(2);", ring(5, 5, 7, 2)),
        # Parts of a turn: as many whole segments as fit.
        ("rotate_extrude(angle = 90, $fn = 40) translate([5, 0]) square(2);", quarter),
        ("rotate_extrude(angle = -90, $fn = 40) translate([5, 0]) square(2);", quarter),
        ("rotate_extrude(angle = 90, $fn = 40) translate([-7, 0]) square(2);", quarter),
        ("rotate_extrude(angle = -90, $fn = 40) translate([-7, 0]) square(2);", quarter),
        ("rotate_extrude(angle = 90, $fn = 5) square(2);", 2 * 0.5 * 2**2),
        ("rotate_extrude(angle = 180, $fn = 4) square(2);", polygon_prism(4, 2, 2) / 2),
        (cut, 64000 - polygon_prism(4, 7, 2) / 4),
        ("rotate_extrude(angle = 0) square(2); cube(2);", 8),
        ("rotate_extrude() translate([-1, 0]) square(2); cube(2);", 8),
        # Groups and variables.
        ("group() { cube(2); translate([1, 0, 0]) cube(2); }", 12),
        ("difference() { cube(2); group() { cube(1); translate([1, 1, 1]) cube(1); } }", 6),
        ("assign(x = 3) cube(x);", 27),
        ("x = 1; assign(x = 2, y = x) cube([x, y, 1]);", 2),
        ("for (i = [3:0]) translate([2 * i, 0, 0]) cube(1);", 4),
        ("for (i = [3:-1:0]) translate([2 * i, 0, 0]) cube(1);", 4),
        ("v = [for (i = [3:0]) i]; cube([v[0] + 1, v[3], 1]);", 3),
        # Bodies without a size draw nothing.
        ("cube(0); cube([1, -1, 1]); sphere(0); sphere(-1); cube(2);", 8),
        ("cylinder(0); cylinder(-1); cylinder(r = 0); cylinder(r1 = -1, r2 = 1); cube(2);", 8),
        ("linear_extrude(2) { circle(0); square([0, 1]); square([1, -1]); square(2); }", 8),
        ("linear_extrude(2) { circle(-1); circle(1 / 0); square(2); }", 8),
        (flat, 8),
        ("linear_extrude(2); rotate_extrude(); linear_extrude(2) cube(1); cube(2);", 8),
        ("difference() { cube(2); cube(0); }", 8),
        # Heights.
        ("linear_extrude() square(1);", 100),
        ("linear_extrude(height = 5, scale = 0) square(3);", 15),
        ("linear_extrude(height = 6, scale = -2) square(3);", 18),
    ]  # fmt: skip


def test_oversized_files_are_rejected():
    count = MOST_TRIANGLES + 1
    binary_stl = bytes(80) + count.to_bytes(4, "little") + bytes(50 * count)
    sources = [
        base64.b64encode(binary_stl).decode(),
        "solid\n" + "vertex 0 0 0\nendfacet\n" * count,
        " " * (MOST_CHARACTERS + 1),
    ]
    for part in read_parts([("STL", source) for source in sources]):
        assert part.too_much
        assert part.shell is None


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_exception(data):
    read_stl(data)
    read_stl(TEXT.encode()[: len(data) * 3] + data)


def test_openscad_volumes():
    cases = {
        "cube([2, 3, 4]);": 24,
        "```scad\ncube(2);\n```": 8,
        "difference() { cube(4); translate([1, 1, -1]) cube([2, 2, 6]); }": 48,
        "difference() { cube(4); #translate([1, 1, -1]) cube([2, 2, 6]); }": 48,
        "for (i = [0 : 2]) translate([2 * i, 0, 0]) cube(2);": 24,
        "module m(a) { cube(a); } function f(x) = x * 2; m(f(1));": 8,
        "linear_extrude(height = 3) polygon([[0, 0], [4, 0], [0, 4]]);": 24,
        "rotate([0, 90, 0]) cube([1, 2, 3]);": 6,
        "multmatrix([[1,0,0,5],[0,1,0,0],[0,0,1,0],[0,0,0,1]]) cube(2);": 8,
        "hull() { cube(1); translate([3, 0, 0]) cube(1); }": 4,
        "intersection() { cube(4); translate([2, 2, 2]) cube(4); }": 8,
        "cylinder(h = 2, r = 1, $fn = 4);": 4,
        "polyhedron([[0,0,0],[6,0,0],[0,6,0],[0,0,6]], [[0,1,2],[0,3,1],[0,2,3],[1,3,2]]);": 36,
        "minkowski() { cube(1); cube(1); }": 8,
        'color("red") scale([1, 2, 1]) resize([2, 2, 2]) cube(1);': 16,
    }  # fmt: skip
    for source, part in zip(cases, scad(*cases), strict=True):
        assert volume(part) == pytest.approx(cases[source], rel=1e-5), source


def polygon_prism(n, radius, height):
    return height * n / 2 * radius**2 * math.sin(2 * math.pi / n)


def ring(n, low, high, height):
    """Return the volume of a square section revolved in n steps, from low to high off the axis."""
    return polygon_prism(n, high, height) - polygon_prism(n, low, height)


def test_openscad_2021_behaviour_is_reproduced():
    cases = openscad_2021_volumes()
    parts = scad(*(source for source, _ in cases))
    for part, (source, expected) in zip(parts, cases, strict=True):
        assert volume(part) == pytest.approx(expected, rel=1e-6), source


def test_full_turn_starts_on_negative_x():
    [part] = scad("rotate_extrude($fn=3) translate([0.5, 0]) square(2);")
    assert part.shell.points[:, 0].min() == pytest.approx(-2.5)


def test_inside_out_polyhedron_is_reversed():
    points = "[[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]"
    for faces in ("[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]",
                  "[[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]]"):  # fmt: skip
        body = f"polyhedron({points}, {faces});"
        alone, cut = scad(body, f"difference() {{ cube(4, center = true); {body} }}")
        assert volume(alone) == pytest.approx(8 / 6)
        assert volume(cut) == pytest.approx(64 - 8 / 6)


def test_twisted_extrusion_has_openscad_slices():
    square = "rotate(20) square(10, center = true);"
    parts = scad(*(f"linear_extrude({arguments}) {square}" for arguments, _ in SLICES))
    for part, (arguments, slices) in zip(parts, SLICES, strict=True):
        levels = np.unique(np.round(part.shell.points[:, 2], 6))
        assert len(levels) == slices + 1, arguments
        assert volume(part) > 0


def test_byte_order_mark_is_ignored():
    mark = "\ufeff"
    assert volume(scad(f"{mark}cube(2);")[0]) == pytest.approx(8)
    assert volume(scad(f"```\n{mark}cube(2);\n```")[0]) == pytest.approx(8)
    marked = [mark + TEXT, f"```stl\n{mark}{TEXT}```"]
    marked.append(base64.b64encode((mark + TEXT).encode()).decode())
    marked.append(mark + base64.b64encode(binary()).decode())
    for part in read_parts([("STL", text) for text in marked]):
        assert volume(part) == pytest.approx(36)
    assert volume(read_stl((mark + TEXT).encode())) == pytest.approx(36)


def test_invalid_openscad_is_reported():
    sources = [
        "cube(", "", "square(3);", "echo(1);", "assert(false); cube(1);", 'import("x.stl");',
        'surface("/etc/passwd");', "include <a.scad>\ncube(1);", "use <b.scad>\ncube(1);",
        'x = import("/etc/passwd"); cube(1);', "roof() square(3);", "x = dxf_dim(1); cube(1);",
        "polyhedron([[0,0,0],[6,0,0],[0,6,0],[0,0,6]], [[0,1,2]]);", "cube(\0);", "\ud800",
        'import\n/* hidden */ ("x.stl");', "module a() { include <c.scad> } a(); cube(1);",
        "x = assert(false) 3; cube(x);",
    ]  # fmt: skip
    for source, part in zip(sources, scad(*sources), strict=True):
        assert part.shell is None, source
        assert part.problem, source
        assert not part.too_much, source


def test_sources_share_step_limit_regardless_of_cache(monkeypatch):
    row = "for (i = [0 : 9]) translate([2 * i, {}, 0]) cube(1);"
    sources = [row.format(y) for y in range(3)]
    steps = [part.steps for part in scad(*sources)]
    assert min(steps) > 9 * 40
    assert all(part.shell is not None for part in scad(*sources))
    answer = [("STL", to_ascii_stl(TETRAHEDRON))]
    answer += [("OpenSCAD", source) for source in sources]
    for cached in ([], sources[:1]):
        for limit, enough in ((sum(steps), True), (sum(steps) - 1, False)):
            printed_parts._cache.clear()
            monkeypatch.setattr(printed_parts, "MOST_STEPS_TOGETHER", 10**9)
            scad(*cached)
            monkeypatch.setattr(printed_parts, "MOST_STEPS_TOGETHER", limit)
            cube, *parts = read_parts(answer)
            assert cube.shell is not None
            assert [part.shell is not None for part in parts] == [enough] * 3
            assert [part.too_much for part in parts] == [not enough] * 3


def test_slow_programs_exceed_step_limit(monkeypatch):
    monkeypatch.setattr(printed_parts, "MOST_STEPS", 200_000)
    monkeypatch.setattr(printed_parts, "MOST_STEPS_TOGETHER", 10**9)
    for source, part in zip(COSTLY, scad(*COSTLY), strict=True):
        assert part.too_much, source[:60]
        assert part.shell is None


def test_memory_error_counts_as_resource_limit(monkeypatch):
    def greedy(*_):
        raise MemoryError

    with pytest.raises(openscad_child.TooMuchError, match="memory"):
        openscad_child.Meter(10).guarded(greedy)
    monkeypatch.setattr(f"{openscad_child.__name__}.mesh_of", greedy)
    job = {
        "sources": ["cube(1);"],
        "steps": 9,
        "together": 9,
        "triangles": 9,
        "probe": False,
    }
    header = openscad_child.main(json.dumps(job).encode())[8:]
    assert "memory" in json.loads(header)["bodies"][0]["limit"]


def test_missing_library_cannot_grade(monkeypatch):
    find_spec = printed_parts.find_spec

    def find_all_but_openscad(name):
        return None if name.startswith("o") else find_spec(name)

    monkeypatch.setattr(printed_parts, "find_spec", find_all_but_openscad)
    with pytest.raises(CannotGrade, match="pip install openscad-evaluator"):
        scad("cube(1); // not in the cache")


@pytest.fixture
def code_allowed(monkeypatch):
    if sandbox.strongest() == "rlimits":
        pytest.skip("no full sandbox on this machine (Debian: bubblewrap)")
    monkeypatch.setattr(sandbox, "_allowed", True)


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("Python Generating STL", f"print({TEXT!r})"),
        ("Python Generating OpenSCAD", "print('scale(1) cube([6, 6, 1]);')"),
        (
            "Python Generating OpenSCAD",
            "if __name__ == '__main__':\n    print('cube([6,6,1]);')",
        ),
    ],
)
def test_programs_are_run(code_allowed, kind, source):
    (part,) = read_parts([(kind, source)])
    assert volume(part) == pytest.approx(36)


@pytest.mark.parametrize(
    ("source", "too_much"),
    [
        ("pass", False), ("1 / 0", False), ("a\0b", False), ("print('x' * 5_000_000)", True),
    ],
)  # fmt: skip
def test_programs_without_a_part_are_reported(code_allowed, source, too_much):
    (part,) = read_parts([("Python Generating STL", source)])
    assert part.shell is None
    assert part.too_much == too_much


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("while True: pass", "time limit"),
        ("import time; time.sleep(1000)", "time limit"),
        (
            "import sys\nwhile True: sys.stderr.write('x' * 9999)",
            "more than 2,000,000 bytes of errors",
        ),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("import os; os.abort()", "signal 6"),
        ("import os; os._exit(200)", "signal 72"),
    ],
)
def test_killed_program_fails_the_answer(code_allowed, monkeypatch, source, why):
    # A busy machine may need minutes to give a loop its second of CPU time.
    wall = 4 if "sleep" in source else 600
    monkeypatch.setattr(printed_parts, "_CODE_SECONDS_TOGETHER", wall)
    short = replace(printed_parts._CODE_LIMITS, seconds=1, errors=2_000_000)
    monkeypatch.setattr(printed_parts, "_CODE_LIMITS", short)
    kind = "Python Generating STL"
    part, other = read_parts([(kind, source), (kind, "print('never run')")])
    assert part.too_much
    assert why in part.problem
    assert other.too_much
    assert (kind, "print('never run')") not in printed_parts._cache


@pytest.mark.parametrize("piece", ["a", '\\"', "/* ", "$"])
def test_long_sources_are_checked_in_linear_time(piece):
    source = '"' + piece * 1_000_000
    too_long = pytest.raises(openscad_child.TooMuchError, match="200,000 tokens")
    with a_minute_of_work(), too_long:  # a second if linear, minutes if quadratic
        openscad_child.check_names(source)


@pytest.mark.parametrize(
    "source",
    [
        'x = "\\"import(',
        "/* import(",
        "1import(",
        "/* a */ $include <b",
        '"a" surface (',
    ],
)
def test_calls_in_unfinished_comments_and_strings_are_refused(source):
    with pytest.raises(openscad_child.UnfitError, match="needs another file"):
        openscad_child.check_names(source)
