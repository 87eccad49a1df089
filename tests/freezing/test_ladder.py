"""The table of rungs, the items drawn from it, and the config ladder of releases."""

import json
import shutil
from dataclasses import replace
from functools import cache
from itertools import pairwise

import polars as pl
import pyarrow as pa
import pytest
import yaml
from release_fixtures import public_keys_as_released
from typer.testing import CliRunner

from scbench.base.errors import (
    ExperimentError,
    GenerationError,
    ReleaseError,
    WorkSpentError,
)
from scbench.base.model import ladder_name, rung_of
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder
from scbench.catalog import MANIFOLDS, all_tasks, get_task, paper_tasks
from scbench.cli import grade, main
from scbench.freezing import ladder_check
from scbench.freezing.compare import shared_items
from scbench.freezing.experiment import experiment_of, plan
from scbench.freezing.freeze import build_release
from scbench.freezing.fresh import forbidden_keys, run
from scbench.freezing.fresh_folder import generate_folder
from scbench.freezing.ladder import (
    ladder,
    own_ladder,
    parse_ladder,
)
from scbench.freezing.ladder_check import (
    MOST_FLOOR,
    RungReport,
    check_ladder,
    failure_problems,
    transfer_of,
)
from scbench.freezing.tables import read_table, write_table
from scbench.freezing.trials import Capacity, Draws, Trials
from scbench.freezing.verify import verify_release
from scbench.grading.rows.index import KnownIds, LineKind
from scbench.machine.processes import open_executor
from scbench.release.load import find_release, open_release
from scbench.release.manifest import CARD, CROISSANT, MANIFEST, ladder_file
from scbench.release.sources import read_manifest

TABLE = """
seed = 5
count = 2

[maze_3d]
measure = "cells"
words = "Longer routes."
rungs = [ {{ size = 5, jumps = 1 }}, {rung} ]
beyond = [ {{ size = 9, jumps = 2 }} ]

[enumerate_edges]
measure = "sides"
words = "More squares."
rungs = [ {{ squares = 2 }}, {{ squares = 7 }} ]
"""
SMALL = TABLE.format(rung="{ size = 7, jumps = 2 }")
TASKS = [get_task("enumerate_edges"), get_task("maze_3d")]
SECRET = 0x5EED_0F_1ADD_E125_ECAE_7000

PUBLISHED = [get_task(name) for name in find_release().ladder().manifest.tasks]

# Tasks whose target is drawn for each item of a rung.
VARIED = {"two_segments", "lego_hemispherical_shell"}


@pytest.fixture(scope="session")
def small():
    return parse_ladder(SMALL)


@pytest.fixture(scope="session")
def runged(tmp_path_factory, small):
    """A release of two tasks with a small ladder. Do not change it."""
    folder = tmp_path_factory.mktemp("runged") / "0.0.4"
    with public_keys_as_released():
        build_release("0.0.4", folder, TASKS, ladder=small.experiment())
    return folder


@pytest.fixture(scope="session")
def secret(tmp_path_factory):
    """Two rungs of the package's own ladder with a private seed. Do not change it."""
    out = tmp_path_factory.mktemp("secret") / "folder"
    blocks = own_ladder([get_task("two_segments")]).task[:2]
    own = ladder().experiment(tasks=["two_segments"], seed=SECRET, private=True)
    generate_folder(own.model_copy(update={"task": blocks}), out)
    return out


# The ladder of this package, from its newest release.


@cache
def references():
    """Return the references of the published ladder."""
    return [*find_release().ladder().references()]


@cache
def floors():
    """Return the floors of the newest release, by item."""
    return find_release().floors()


def means(task, column):
    """Return the mean of a column of the references on each rung of a task's published ladder."""
    found = {}
    for ref in references():
        if ref.id.startswith(f"{task.id}/"):
            found.setdefault(rung_of(ref.id), []).append(getattr(ref, column))
    return {rung: sum(values) / len(values) for rung, values in found.items()}


def lowest(task):
    """Return the measures of the items of the first rung of a task's published ladder."""
    return [
        ref.measure
        for ref in references()
        if ref.id.startswith(f"{task.id}/") and rung_of(ref.id) == 1
    ]


def test_every_task_has_a_ladder_of_at_least_eight_rungs_and_one_beyond():
    table = ladder()
    texts = [task for task in all_tasks().values() if task.bucket == MANIFOLDS]
    assert list(table.tasks) == [task.id for task in (*paper_tasks(), *texts)]
    assert all(len(held.rungs) >= 8 and held.beyond for held in table.tasks.values())
    assert table.count >= 6
    found = find_release().ladder().instances()
    per_rung = {}
    for row in found.values():
        per_rung.setdefault((row.task, rung_of(row.id)), []).append(row)
    assert set(map(len, per_rung.values())) == {table.count}
    assert len(found) == table.count * sum(
        len(table.tasks[task.id].rungs) for task in PUBLISHED
    )
    assert len({row.seed for row in found.values()}) == len(found)
    own = {(row.prompt, row.all_params) for row in find_release().instances().values()}
    drawn = {(row.prompt, row.all_params) for row in found.values()}
    assert len(drawn) == len(found)
    assert not drawn & own


@pytest.mark.parametrize("task", PUBLISHED, ids=str)
def test_measure_rises_and_the_ladder_starts_below_the_paper_and_ends_above(task):
    found = means(task, "measure")
    assert list(found) == list(range(1, len(found) + 1))
    assert all(low < high for low, high in pairwise(found.values()))
    builder = task.builder()
    if not (paper := [builder.measure(item.params) for item in builder.paper()]):
        return  # a text task, of which the paper has none
    *_, second, top = found.values()
    # Scores reached without insight do not show how easy a rung may be.
    own_floors = [floors()[name] for name in find_release().instances([task.id])]
    if 3 * sum(floor > MOST_FLOOR for floor in own_floors) <= len(own_floors):
        # Where targets vary within a rung, not every item can be that easy.
        if task.id in VARIED:
            assert min(lowest(task)) <= min(paper)
        else:
            assert found[1] < min(paper)
    assert second > max(paper), (
        "at least two rungs are above the paper's hardest instance"
    )
    assert top > max(paper)


@pytest.mark.parametrize("task", PUBLISHED, ids=str)
def test_top_rung_needs_insight(task):
    *_, top = means(task, "floor").values()
    assert top < (0.95 if ladder().tasks[task.id].room else MOST_FLOOR)


# Names.


def test_rungs_are_read_from_ids_alone():
    assert ladder_name(3, 2) == "ladder-03-2"
    assert (
        rung_of("csg_union/ladder-03-2")
        == rung_of("b001f663:csg_union/ladder-03-2")
        == 3
    )
    assert rung_of("a/ladder-112-10") == 112
    for other in (
        "csg_union/03",
        "a/03-terse",
        "a/ladder-3-2",
        "a/ladder-03",
        "ladder-03-x",
        "",
    ):
        assert rung_of(other) is None
    assert rung_of("a/ladder-" + "9" * 100_000 + "-1") is None


# The table.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = ", "this is not valid TOML"),
        ("seed = 1", "tasks"),
        (
            SMALL.replace("maze_3d", "maze_4d"),
            "unknown task 'maze_4d'. Did you mean 'maze_3d'?",
        ),
        (
            TABLE.format(rung="{ size = 99 }"),
            "maze_3d, rung 2: size: must be at most 40",
        ),
        (
            TABLE.format(rung="{ sise = 9 }"),
            "maze_3d, rung 2: maze_3d has no parameter 'sise'",
        ),
        (
            TABLE.format(rung="{ jumps = 1, size = 5 }"),
            "maze_3d, rung 2: is the same point as r",
        ),
        (
            TABLE.format(rung="{ size = 9, count = 3 }"),
            "maze_3d, rung 2: 'count' is not a parameter",
        ),
        (
            SMALL.replace("size = 9", "size = 2"),
            "maze_3d, rung 3: size: must be at least 5",
        ),
        (TABLE.format(rung="7"), "maze_3d: rungs, entry 2"),
        (SMALL.replace('measure = "cells"', ""), "maze_3d: measure: is missing"),
        (SMALL.replace("count = 2", "count = 0"), "count"),
        (SMALL.replace("[maze_3d]", "[maze_3d]\nruns = 2"), "maze_3d: runs"),
    ],
)
def test_mistake_in_the_table_is_named_with_task_and_rung(text, message):
    with pytest.raises(ExperimentError) as caught:
        parse_ladder(text)
    assert message in str(caught.value)


def test_experiment_of_the_table(small):
    whole = small.experiment()
    assert [(b.id, b.rung, b.count) for b in whole.task] == [
        ("enumerate_edges", 1, 2), ("enumerate_edges", 2, 2), ("maze_3d", 1, 2), ("maze_3d", 2, 2),
    ]  # fmt: skip
    assert whole.seed == 5
    assert small.experiment(private=True).seed is None
    (ninth,) = small.experiment(tasks=["maze_3d"], rung=3, count=4, seed=8).task
    assert (ninth.rung, ninth.count, ninth.parameters) == (
        3,
        4,
        {"size": 9, "jumps": 2},
    )
    with pytest.raises(ExperimentError, match="enumerate_edges ends at rung 2"):
        small.experiment(rung=3)
    with pytest.raises(ExperimentError, match="rungs start at 1"):
        small.experiment(rung=0)
    with pytest.raises(ExperimentError, match="no task 'maze3d'"):
        small.experiment(tasks=["maze3d"])


def test_rungs_and_measures_belong_together():
    block = {"id": "maze_3d", "rung": 1}
    for wrong in (
        {"task": [block]},
        {"measures": {"maze_3d": "cells"}, "task": [{"id": "maze_3d"}]},
        {"measures": {"maze_3d": "cells"}, "task": [block, {"id": "dates"}]},
        {"measures": {"maze_3d": "cells", "dates": "days"}, "task": [block]},
    ):
        with pytest.raises(ExperimentError, match="measure"):
            experiment_of(wrong)


def test_checker_reports_problems(small):
    (first, second) = check_ladder(small, ["enumerate_edges"])
    assert first.problems == second.problems == ()
    turned = small.tasks["enumerate_edges"].rungs[::-1]
    task = small.tasks["enumerate_edges"].model_copy(update={"rungs": turned})
    falling = small.model_copy(update={"tasks": {"enumerate_edges": task}})
    _, second = check_ladder(falling)
    assert "on the rung below" in second.problems[0]


def promised(monkeypatch, table, **facts):
    """Problems of a rung with these properties, above a rung without problems."""
    reports = [
        RungReport("maze_3d", 1, {}, (1.0,), (0.2,)),
        RungReport("maze_3d", 2, {}, **{"measures": (2.0,), "floors": (0.2,), **facts}),
    ]
    monkeypatch.setattr(ladder_check, "check_rung", lambda *_: reports.pop(0))
    *_, second = list(check_ladder(table, ["maze_3d"]))[:2]
    return second.problems


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({"floors": (0.7,)}, "the mean floor is 0.70; the limit is 0.6"),
        (
            {"floors": (0.24,)},
            "the mean floor is 0.24, but on the rung below it is 0.20",
        ),
        (
            {"transfer": 0.51},
            "scores 0.51 above the floor on the other items",
        ),
        (
            {"trials": Trials(250, 0, 0, Capacity(31125, 4))},
            "only about 7,781 different items",
        ),
        ({"measures": (1.0,)}, "on the rung below"),
    ],
)
def test_required_properties_of_a_rung_are_checked(monkeypatch, small, facts, part):
    two = small.tasks["maze_3d"].model_copy(update={"beyond": ()})
    table = small.model_copy(update={"tasks": {"maze_3d": two}})
    assert any(part in problem for problem in promised(monkeypatch, table, **facts))
    reasons = {"small": "By nature.", "room": "By nature."}
    excused = table.model_copy(
        update={"tasks": {"maze_3d": two.model_copy(update=reasons)}}
    )
    left = promised(monkeypatch, excused, **facts)
    assert not any(
        "10,000" in problem or "the limit is 0.6" in problem for problem in left
    )


@pytest.mark.parametrize(
    "facts",
    [
        {
            "floors": (0.23,),
            "transfer": 0.5,
            "trials": Trials(250, 0, 0, Capacity(31125, 3)),
        },
        {"transfer": None, "trials": Trials(250, 0, 0, Capacity(31125, 0))},
        # Too few draws to tell are no proof of too few items.
        {"trials": Trials(2, 0, 0, Capacity(1, 0))},
    ],
)
def test_values_within_the_bounds_are_not_reported(monkeypatch, small, facts):
    two = small.tasks["maze_3d"].model_copy(update={"beyond": ()})
    table = small.model_copy(update={"tasks": {"maze_3d": two}})
    assert promised(monkeypatch, table, **facts) == ()


def test_transfer_is_the_best_answer_to_another_item(small):
    (part,) = run(
        small.experiment(tasks=["enumerate_edges"], rung=2, count=3), distinct=False
    )
    assert transfer_of(part) == 0
    same = replace(part, instances=(part.instances[0],) * 3)
    # One answer is right on the two others, which are all the same item.
    assert transfer_of(same) == 1
    no_room = [replace(ref, floor=1.0) for ref in part.references]
    assert transfer_of(replace(part, references=tuple(no_room))) is None
    half = [replace(ref, floor=0.5) for ref in part.references]
    assert transfer_of(replace(same, references=tuple(half))) == 1


def test_transfer_is_measured_in_the_coordinates_of_the_task():
    # Both cuts end at the same shares of the same sides of a square that is turned or moved.
    task = get_task("two_segments")
    builder = task.builder()
    space = builder.space(frame="rotated", target="2t1q")
    first, second = (builder.draw(space, Stream("transfer", i)) for i in range(2))
    answer = builder.reference(first)
    assert task.grade(second, answer).score == 0
    carried = builder.carried_over(answer, first, second)
    assert task.grade(second, task.answer_model.model_validate(carried)).score == 1
    # By default an answer is carried over as it is.
    maze = get_task("maze_3d").builder()
    assert type(maze).carried_over is Builder.carried_over


def test_capacity_is_estimated_from_similar_items():
    task = get_task("topology_enumeration")
    ring = {"corners": 4, "order": "ring", "known": 0}
    # Eight walks round a square, drawn alike often.
    few = Draws(task, ring).trials(200).capacity
    assert few.pairs == 200 * 199 // 2
    assert 6 <= few.items <= 10
    assert Draws(task, ring).trials(200).capacity == few
    many = Draws(get_task("delaunay_triangulation"), {"points": 12}).trials(60)
    assert many == Trials(60, 0, 0, Capacity(60 * 59 // 2, 0))
    assert str(many.capacity) == ">590"
    assert Capacity(31125, 0).items > 10_000 > Capacity(31125, 4).items


def test_failed_draws_are_counted(monkeypatch):
    task = get_task("enumerate_edges")
    real = task.builder.draw

    def draw(self, point, rng):
        if rng.below(8) == 0:
            raise WorkSpentError("too much work")
        if rng.below(8) == 0:
            raise GenerationError("bad luck")
        return real(self, point, rng)

    monkeypatch.setattr(task.builder, "draw", draw)
    trials = Draws(task, {"squares": 20}).trials(40)
    assert trials.attempts == 40 + trials.failures
    assert 0 < trials.final_failures < trials.failures < 40
    assert trials.capacity.pairs == 40 * 39 // 2
    assert Draws(task, {"squares": 20}).trials(40) == trials


@pytest.mark.parametrize(
    ("failures", "final", "named"),
    [
        # 0.36 to the power of eight, for six items, is 0.17 %; the limit is 0.1 %.
        (90, 0, True),
        (80, 0, False),
        # One failure that ends a point immediately is more than 0.1 % of the draws.
        (1, 1, True),
    ],
)
def test_rung_that_may_stay_incomplete_is_named(failures, final, named):
    trials = Trials(250, failures, final, Capacity(31125, 0))
    problems = list(failure_problems(get_task("shikaku_rectangles"), trials, 6))
    assert len(problems) == named
    assert all(f"{failures} of 250 draws failed" in line for line in problems)


# Releases.


def test_release_has_a_ladder_config(runged):
    manifest = read_manifest(runged)
    assert list(manifest.ladder.tasks) == ["enumerate_edges", "maze_3d"]
    assert manifest.instances == sum(len(task.builder().paper()) for task in TASKS)
    head = yaml.safe_load((runged / CARD).read_text("utf-8").split("---\n")[1])
    paths = {c["config_name"]: c["data_files"][0]["path"] for c in head["configs"]}
    assert paths["ladder"] == list(map(ladder_file, manifest.ladder.tasks))
    sets = {
        part["name"]
        for part in json.loads((runged / CROISSANT).read_text())["recordSet"]
    }
    assert "maze_3d-ladder" in sets
    rows = pl.read_parquet(runged / ladder_file("maze_3d"))
    assert rows["rung"].to_list() == [1, 1, 2, 2]
    assert rows["id"].to_list() == [
        f"maze_3d/ladder-0{r}-{k}" for r in (1, 2) for k in (1, 2)
    ]


def test_ladder_is_found_as_a_release(runged):
    release = open_release(runged)
    rungs = find_release(f"{runged}+ladder")
    assert rungs.version == "0.0.4+ladder"
    assert rungs.manifest.is_ladder
    assert not rungs.manifest.is_generated
    assert not release.manifest.is_ladder
    assert [ref.id for ref in rungs.references()] == list(rungs.instances())
    assert all(ref.measure > 0 for ref in rungs.references())
    assert all(ref.measure is None for ref in release.references())
    assert {ref.id for ref in release.references()} == {*release.instances()}
    assert release.fitting("maze_3d/ladder-01-1").version == rungs.version
    assert release.fitting("maze_3d/01") is release
    chosen, others = release.choose(["ladder", "maze_3d"])
    assert (chosen.version, others) == (rungs.version, ["maze_3d"])
    with pytest.raises(ReleaseError, match="different configs"):
        release.choose(["ladder", "terse"])
    assert {*release.terse().instances()} == {
        f"{name}-terse" for name in release.instances()
    }


def test_only_the_chosen_config_is_graded(runged, tmp_path):
    names = ["--release", str(runged)]
    asked = CliRunner().invoke(main.app, ["example", *names, "--tasks", "ladder"])
    lines = [line for line in asked.stdout.splitlines() if '"oracle"' in line]
    assert len(lines) == 8
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    out = ["--out", str(tmp_path / "out"), "--quiet", "--workers", "1"]
    done = CliRunner().invoke(grade.app, [str(file), *names, *out, "--tasks", "ladder"])
    assert done.exit_code == 0, done.output
    rows = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert rows["score"].to_list() == [1.0] * 8
    assert rows["release"].unique().to_list() == ["0.0.4+ladder"]
    done = CliRunner().invoke(grade.app, [str(file), *names, *out, "--restart"])
    assert done.exit_code == 1
    assert "--tasks ladder" in done.output


def test_ids_of_the_other_config_are_not_chosen():
    ladder_ids = KnownIds(["maze_3d/ladder-01-1"], ["maze_3d"], ["maze_3d"])
    assert ladder_ids.place("maze_3d/03") == LineKind.NOT_CHOSEN
    assert ladder_ids.place("maze_3d/ladder-09-1") == LineKind.UNKNOWN
    fixed = KnownIds(["maze_3d/03"], ["maze_3d"], ["maze_3d"])
    assert fixed.place("maze_3d/ladder-09-1") == LineKind.NOT_CHOSEN
    assert fixed.place("maze_3d/44") == LineKind.UNKNOWN


@pytest.fixture
def _keys_as_released():
    with public_keys_as_released():
        yield


@pytest.mark.usefixtures("_keys_as_released")
def test_verify_draws_the_ladder_again(runged, tmp_path, forge):
    (message,) = verify_release(runged)
    assert (
        message
        == f"{MANIFEST}: ladder differs from the one that this package generates"
    )
    copy = shutil.copytree(runged, tmp_path / "copy")
    path = copy / ladder_file("maze_3d")
    table = read_table(path.read_bytes())
    prompts = table["prompt"].to_pylist()
    column = table.schema.get_field_index("prompt")
    changed = pa.array(
        [prompts[0] + " ", *prompts[1:]], table.schema.field(column).type
    )
    write_table(path, table.set_column(column, table.schema.field(column), changed))
    forge(copy)
    assert any(
        p.startswith(f"{ladder_file('maze_3d')}: ") for p in verify_release(copy)
    )


# Private ladders.


def test_private_ladder_is_new_and_keeps_its_seed(secret):
    release = open_release(secret)
    manifest = release.manifest
    assert manifest.is_generated
    assert manifest.is_ladder
    assert manifest.experiment.seed is None
    names = list(release.instances())
    prefix = manifest.experiment.prefix
    assert names[0] == f"{prefix}:two_segments/ladder-01-1"
    assert [rung_of(name) for name in names] == [1] * 6 + [2] * 6
    for path in secret.rglob("*"):
        if path.is_file():
            assert str(SECRET).encode() not in path.read_bytes()
    # The first rung has eighteen instances in all, so that chance would repeat some.
    for held in (find_release(), find_release().ladder()):
        assert all(not found.prompts for found in shared_items(release, held))
    assert verify_release(secret) == ()
    assert verify_release(secret, seed=SECRET) == ()
    assert release.choose(["ladder"])[0] is release


def test_ladder_avoids_the_fixed_lists_and_the_published_rungs():
    task = get_task("two_segments")
    own = own_ladder([task])
    with open_executor(1) as executor:
        assert len(forbidden_keys(own, task.id, executor)) == len(
            task.builder().paper()
        )
        other = own.model_copy(update={"seed": 1})
        rungs = sum(point.point.count for point in plan(own))
        assert (
            len(forbidden_keys(other, task.id, executor))
            == len(task.builder().paper()) + rungs
        )
        # A text task has no fixed list.
        texts = own_ladder([get_task("arithmetic")])
        assert forbidden_keys(texts, "arithmetic", executor) == set()
