"""``scbench tasks`` and ``generate``: tasks with their parameters, and new items of them."""

import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from scbench.analysis.layout import Sheet, markdown, terminal
from scbench.base.errors import ExperimentError, ReleaseError, did_you_mean
from scbench.base.model import LADDER
from scbench.builders.shared.builder import Case
from scbench.catalog import Task, all_tasks, available_tasks, get_task
from scbench.cli.console import (
    INTERRUPTED,
    NEEDS,
    PROBLEMS,
    as_json,
    counted,
    reported_errors,
    require,
    say,
)
from scbench.cli.options import Commands, ListForm
from scbench.cli.progress import progress
from scbench.cli.releases import rungs_of
from scbench.formats.prompts import (
    LIMITS,
    Form,
    Settings,
    line_of,
    requests,
    write_files,
)
from scbench.freezing.draw import Row, draw
from scbench.freezing.experiment import (
    Experiment,
    experiment_of,
    parameters_of,
    plan,
    points_of,
    read_experiment,
    read_parameter,
)
from scbench.freezing.ladder import TaskLadder
from scbench.freezing.listing import describe_task
from scbench.machine.processes import open_executor, processors
from scbench.release.load import Release, find_release, open_release

app = Commands()


_PRINTED = ("jsonl", "text")
_SHORT_SEED = 2**64

# Context of ``generate``, whose options are the parameters of the task.
PARAMETERS_FOLLOW = {"ignore_unknown_options": True, "allow_extra_args": True}


@app.command()
def tasks(
    task: str | None = None, release: str | None = None, style: ListForm = "table"
) -> None:
    """List tasks, or one task's parameters.

    Bounds and defaults stand beside them.
    """
    with reported_errors():
        if release is not None:
            described = _described_in(find_release(release), task)
        else:
            listing = available_tasks() if task is None else [get_task(task)]
            described = [*map(describe_task, listing)]
        if style == "json":
            text = as_json(described if task is None else described[0]) + "\n"
        elif release is not None:
            text = _release_text(described, style)
        else:
            text = (
                _tasks_text(described, style)
                if task is None
                else _parameters_text(described[0], style)
            )
        sys.stdout.write(text)


def _described_in(release: Release, task: str | None) -> list[dict[str, Any]]:
    """Return what a release says of its tasks, or of one."""
    records, weights = release.manifest.tasks, release.weights()
    if task is not None and task not in records:
        raise ReleaseError(
            f"release {release.version} does not hold the task {task!r}."
            f"{did_you_mean(task, records)}"
        )
    return [
        {
            "id": name,
            "title": get_task(name).title,
            "bucket": record.bucket,
            "scores": record.scores,
            "scoring": get_task(name).scoring,
            "grader_version": record.grader_version,
            "weight": weights[name],
        }
        for name, record in records.items()
        if task in {None, name}
    ]


def _release_text(described: Sequence[dict[str, Any]], style: ListForm) -> str:
    heads = ["task", "bucket", "scores", "scoring", "weight", "grader", "title"]
    rows = [
        [
            *(row["id"], row["bucket"], str(row["scores"]), row["scoring"]),
            *(f"{row['weight']:.3f}", f"v{row['grader_version']}", row["title"]),
        ]
        for row in described
    ]
    return _table_text("Tasks of the release", heads, rows, style)


def _tasks_text(described: Sequence[dict[str, Any]], style: ListForm) -> str:
    heads = ["task", "bucket", "scores", "scoring", "parameters"]
    rows = [
        [
            row["id"],
            row["bucket"],
            str(row["scores"] or "-"),
            row["scoring"],
            ", ".join(parameter["name"] for parameter in row["parameters"]),
        ]
        for row in described
    ]
    return _table_text("Tasks", heads, rows, style)


def _parameters_text(task: dict[str, Any], style: ListForm) -> str:
    size = f"{task['scores']} scores" if task["scores"] else "all items are generated"
    title = (
        f"{task['id']}: {task['title']}, {task['bucket']}, {size}, {task['scoring']}"
    )
    heads = ["parameter", "values", "default", "kind", "meaning"]
    rows = [
        [
            parameter["name"],
            parameter["values"],
            _value_text(parameter["default"]),
            parameter["kind"] or "-",
            parameter["description"],
        ]
        for parameter in task["parameters"]
    ]
    text = _table_text(title, heads, rows, style)
    if task["dimensions"]:
        text += f"\nStresses: {', '.join(task['dimensions'])}.\n"
    for name, meaning in task["facts"].items():
        text += f"Recorded with each item: {name} ({meaning}).\n"
    if task["ladder"]:
        text += f"\n{_ladder_text(task['ladder'], style)}"
    return text


def _ladder_text(rungs: dict[str, Any], style: ListForm) -> str:
    points = [*rungs["rungs"], *rungs["beyond"]]
    rows = [
        [
            f"{number}{'+' * (number > len(rungs['rungs']))}",
            ", ".join(f"{name} {_value_text(value)}" for name, value in point.items()),
        ]
        for number, point in enumerate(points, 1)
    ]
    beyond = " + is beyond those that releases hold." if rungs["beyond"] else ""
    least = TaskLadder.model_validate(rungs).least_items
    items = f"At least {least:,} different items on each rung."
    reasons = "".join(f" {rungs[key]}" for key in ("small", "room") if rungs[key])
    title = f"Ladder: {rungs['measure']}. {rungs['words']}{beyond} {items}{reasons}"
    return _table_text(title, ["rung", "point"], rows, style)


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def _table_text(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], style: ListForm
) -> str:
    words = frozenset(heads) - {"scores", "weight"}
    sheet = Sheet(title, heads, rows, words, wraps=frozenset(heads[-1:]))
    return (markdown if style == "markdown" else terminal)(sheet) + "\n"


@app.command(context_settings=PARAMETERS_FOLLOW)
def generate(
    context: typer.Context,
    target: str | None = None,
    out: Path | None = None,
    count: int | None = None,
    rung: int | None = None,
    seed: int | None = None,
    private: bool = False,
    prompts_only: bool = False,
    name: str | None = None,
    restart: bool = False,
    form: list[str] | None = None,
    workers: int = 0,
    quiet: bool = False,
) -> None:
    """Generate new items of a task, or a whole experiment.

    The first are printed, the second is a folder.

    The parameters of a task are options: scbench generate arithmetic --length 8 --max-depth 3
    --count 5. `scbench tasks TASK` lists them. A folder is graded with scbench-grade --release
    FOLDER. The same seed gives the same bytes with any number of workers. Exit code 1: a point
    could not give as many items as were asked for.
    """
    with reported_errors("build"):
        if target is not None and target.startswith("-"):
            raise ExperimentError("name the experiment or task first, then its options")
        head, _, rest = (target or "").partition(",")
        if head == LADDER or rung is not None:
            printed = None
            extra = [*context.args, *(form or [])]
            if extra:
                raise ExperimentError(
                    f"{extra[0]!r}: the parameters of rungs are in the table of the ladder"
                )
            experiment = rungs_of(
                rest or None if head == LADDER else target,
                rung,
                count,
                seed,
                private=private,
            )
        elif target is None:
            raise ExperimentError("name an experiment or task, or the ladder")
        elif target in all_tasks():
            task = get_task(target)
            printed, values = _print_forms(task, form or [])
            parameters = _task_parameters(task, [*values, *context.args])
            experiment = _experiment_of_task(
                task,
                parameters,
                count or 1,
                0 if seed is None and not private else seed,
            )
        else:
            printed = None
            experiment = _read_target(target, context.args, count, form)
            if seed is not None:
                experiment = experiment.model_copy(update={"seed": seed})
        prompts = out.with_name(f"{out.name}-prompts") if out and prompts_only else None
        if out is not None:  # said before a private seed is
            require(*NEEDS["build"])
        if prompts_only and prompts is None:
            raise ExperimentError("--prompts-only is for folders; name one with --out")
        if prompts and prompts.exists():
            raise ExperimentError(
                f"{prompts} exists, and --prompts-only writes it; name another"
            )
        experiment = _with_seed(experiment, private=private, writes=out is not None)
        if out is None:
            if printed is None:
                kind = "a ladder" if experiment.measures else "an experiment"
                raise ExperimentError(
                    f"{kind} is written into a folder; name it with --out"
                )
            _print_cases(experiment, printed, workers or 1)
        else:
            short = _write_folder(
                experiment,
                out,
                name,
                workers or processors(),
                restart=restart,
                quiet=quiet,
            )
            if prompts:
                _write_prompts(out, prompts, quiet=quiet)
            if short:
                raise typer.Exit(PROBLEMS)


def _print_forms(task: Task, forms: list[str]) -> tuple[str, list[str]]:
    """Tell how cases are printed from values of a parameter that happens to be called format."""
    printed = [value for value in forms if value in _PRINTED]
    values = [value for value in forms if value not in _PRINTED]
    if values and "format" not in task.builder.space.model_fields:
        raise ExperimentError(
            f"--format takes {' or '.join(_PRINTED)}, not {values[0]!r}"
        )
    if len(printed) > 1:
        raise ExperimentError(f"--format is given as {' and as '.join(printed)}")
    return (printed or ["jsonl"])[0], [f"--format={value}" for value in values]


def _task_parameters(task: Task, args: Sequence[str]) -> dict[str, Any]:
    """Read the options that are parameters of a task."""
    space = task.builder.space
    options = {f"--{name.replace('_', '-')}": name for name in parameters_of(space)}
    flags = {
        option
        for option, name in options.items()
        if space.model_fields[name].annotation is bool
    }
    waiting = list(args)
    parameters: dict[str, Any] = {}
    while waiting:
        option, equals, value = waiting.pop(0).partition("=")
        option = option.replace("_", "-")
        positive = "--" + option.removeprefix("--no-")
        if option not in options and positive in flags and not equals:
            option, equals, value = positive, "=", "false"
        if option not in options:
            near = did_you_mean(option, options).replace("'", "")
            raise ExperimentError(
                f"{task.id} has no option {option}.{near} "
                f"`scbench tasks {task.id}` lists its parameters: {', '.join(options)}"
            )
        if not equals:
            if waiting and not waiting[0].startswith("--"):
                value = waiting.pop(0)
            elif option in flags:
                value = "true"
            else:
                raise ExperimentError(f"{option} needs a value")
        parameter = options[option]
        if parameter in parameters:
            raise ExperimentError(f"{option} is given twice")
        parameters[parameter] = read_parameter(space, parameter, value)
    return parameters


def _experiment_of_task(
    task: Task, parameters: dict[str, Any], count: int, seed: int | None
) -> Experiment:
    points_of(task, parameters, {}, count)  # errors that name the parameter alone
    return experiment_of(
        {"seed": seed, "task": [{"id": task.id, "count": count, **parameters}]}
    )


def _read_target(
    target: str, args: Sequence[str], count: int | None, form: list[str] | None
) -> Experiment:
    path = Path(target)
    if not path.is_file() and path.suffix != ".toml":
        raise ExperimentError(
            f"{target!r} is neither a task nor a file.{did_you_mean(target, all_tasks())}"
        )
    extra = [*args, *(["--count"] if count else []), *(["--format"] if form else [])]
    if extra:
        raise ExperimentError(
            f"{extra[0]} goes with a task; what an experiment draws is in its file"
        )
    return read_experiment(path)


def _with_seed(experiment: Experiment, *, private: bool, writes: bool) -> Experiment:
    """Settle the seed and whether it is private."""
    private = private or experiment.private
    if private and not writes:
        raise ExperimentError("--private is for folders; name one with --out")
    if experiment.seed is None and private:
        seed = secrets.randbits(128)
        say(f"private seed: {seed}")
        say("keep it: it is not stored anywhere; --seed continues or verifies with it")
        return experiment.model_copy(update={"seed": seed, "private": True})
    if private and experiment.seed is not None and experiment.seed < _SHORT_SEED:
        say(
            "warning: a private seed this short can be found by trying all; without a seed, "
            "--private chooses one of 128 bits"
        )
    return experiment.model_copy(update={"private": private})


def _print_cases(experiment: Experiment, printed: str, workers: int) -> None:
    """Print the cases of one task as they are drawn."""
    short = False
    with open_executor(workers) as executor:
        for batch in draw(plan(experiment), experiment.seed or 0, executor, set()):
            task, total = batch.planned.task, batch.planned.point.count
            for number, case in enumerate(batch.cases, 1):
                line = json.dumps(case, ensure_ascii=False)
                text = (
                    line
                    if printed == "jsonl"
                    else _case_text(task, case, number, total)
                )
                sys.stdout.write(text + "\n")
            if batch.reason:
                short = True
                say(f"{task.id}: {len(batch.cases)} of {total} items: {batch.reason}")
    sys.stdout.flush()
    if short:
        raise typer.Exit(PROBLEMS)


def _case_text(task: Task, case: Row, number: int, total: int) -> str:
    facts = {
        name: value for name, value in case.items() if name not in Case.model_fields
    }
    label = ", ".join(
        f"{name} {value}" for name, value in {**case["params"], **facts}.items()
    )
    head = f"=== {task.id}, item {number} of {total}, seed {case['seed']}: {label}"
    return f"{head}\n\n{case['input'].rstrip()}\n\n--- target: {case['target']}\n"


def _write_folder(
    experiment: Experiment,
    out: Path,
    name: str | None,
    workers: int,
    *,
    restart: bool,
    quiet: bool,
) -> bool:
    """Write items and references; return whether some are missing."""
    from scbench.freezing.fresh_folder import generate_folder

    total = sum(planned.point.count for planned in plan(experiment))
    try:
        with progress(
            total, quiet=quiet, doing="generating", done="generated", things="items"
        ) as bar:
            generated = generate_folder(
                experiment,
                out,
                name=name,
                workers=workers,
                restart=restart,
                on_cases=lambda cases: bar.done(cases, cases),
            )
    except KeyboardInterrupt:
        say("interrupted; the same command continues")
        raise typer.Exit(INTERRUPTED) from None
    if generated.resumed and not quiet:
        say(f"{counted(generated.resumed, 'point')} drawn before the interruption")
    for short in generated.gathered.shortfalls:
        parameters = ", ".join(f"{key} {value}" for key, value in short.point.items())
        say(
            f"{short.task}: {short.got} of {short.asked} items at {parameters}: {short.reason}"
        )
    if not quiet:
        manifest = generated.manifest
        say(
            f"{out}: {manifest.version}, {manifest.instances} items, rows {manifest.rows_hash}"
        )
    return bool(generated.gathered.shortfalls)


def _write_prompts(folder: Path, out: Path, *, quiet: bool) -> None:
    """Write what may be given away of a folder: its prompts, with their images and ids."""
    asked = requests(list(open_release(folder).instances().values()), 1, ())
    lines = (line_of(request, Form.SCBENCH, Settings()) for request in asked)
    paths = write_files(lines, out, LIMITS[Form.SCBENCH])
    if not quiet:
        say(
            f"{', '.join(map(str, paths))}: prompts alone, to be given away; {folder} has answers"
        )
