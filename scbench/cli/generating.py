"""``scbench generate``: new items of a task, an experiment or the ladder."""

import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scbench.base.errors import ExperimentError, did_you_mean
from scbench.base.model import LADDER
from scbench.base.wording import counted
from scbench.builders.shared.builder import Case
from scbench.catalog import Task, all_tasks, get_task
from scbench.cli.console import (
    INTERRUPTED,
    NEEDS,
    PROBLEMS,
    reported_errors,
    require,
    say,
)
from scbench.cli.options import QuietOption, WorkersOption
from scbench.cli.progress import progress
from scbench.cli.releases import rungs_of
from scbench.cli.seeds import SeedFileOption, read_seed
from scbench.formats.forms import Form
from scbench.formats.prompts import (
    LIMITS,
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
from scbench.machine.limits import processors
from scbench.machine.processes import open_executor
from scbench.release.load import open_release

# Formats in which items are printed; the first is the default.
PRINT_FORMS = ("jsonl", "text")
# Private seeds below this can be guessed by trying all of them.
SHORT_SEED = 2**64
# Settings of ``generate``, which reads unknown options as parameters of the task.
PARAMETERS_FOLLOW = {"ignore_unknown_options": True, "allow_extra_args": True}

app = typer.Typer(rich_markup_mode=None)


@app.command(context_settings=PARAMETERS_FOLLOW)
def generate(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPERIMENT|TASK",
            show_default=False,
            help=(
                "A task, with its parameters as options; the TOML file of an experiment; or "
                "ladder. `ladder` generates the rungs of all tasks, `ladder,TASK,TASK` the rungs "
                "of some tasks, and `ladder,FILE.toml` the rungs in your own table."
            ),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to create, in the layout of a release. Without it, items are printed."
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Number of items, in total or per rung. [default: 1, or the number in the "
                "table of rungs]"
            ),
        ),
    ] = None,
    rung: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Generate only this rung of the ladder; rungs above the top one are harder still.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Base seed, overriding the experiment's. [default for a task: 0]",
        ),
    ] = None,
    seed_file: SeedFileOption = None,
    private: Annotated[
        bool,
        typer.Option(
            "--private",
            help=(
                "Do not store the base seed. Without --seed, choose a random one and show it "
                "once."
            ),
        ),
    ] = False,
    prompts_only: Annotated[
        bool,
        typer.Option(
            "--prompts-only",
            help="Also create FOLDER-prompts, which has no answers and is safe to share.",
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the generated release. [default: generated-HASH]"),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Discard the interrupted run and start over."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help=(
                "Continue the interrupted run even if it was started on another machine or by "
                "someone else. The items generated so far are kept."
            ),
        ),
    ] = False,
    form: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help=(
                "Format of printed items: jsonl (default) or text. Any other value sets the "
                "task's own parameter `format`."
            ),
        ),
    ] = None,
    workers: WorkersOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Generate new items of a task, an experiment or the ladder.

    Items of one task are printed; experiments and ladders are written to a folder.

    A task's parameters are options: scbench generate arithmetic --length 8 --max-depth 3 --count 5.
    `scbench tasks TASK` lists them. Grade answers to a folder with scbench-grade --release FOLDER.
    The same seed gives the same bytes with any number of workers. Exit code 1: fewer items exist
    than you asked for.
    """
    with reported_errors("build"):
        if target is not None and target.startswith("-"):
            raise ExperimentError("give the experiment or task first, then its options")
        seed = read_seed(seed, seed_file)
        first_word, _, ladder_tasks = (target or "").partition(",")
        is_ladder = first_word == LADDER
        print_form = None
        if is_ladder or rung is not None:
            extra = [*context.args, *(form or [])]
            if extra:
                raise ExperimentError(
                    f"{extra[0]!r} is not allowed here: the parameters of rungs come from "
                    "the table of the ladder"
                )
            ladder_target = (ladder_tasks or None) if is_ladder else target
            experiment = rungs_of(ladder_target, rung, count, seed, private=private)
        elif target is None:
            raise ExperimentError("give a task, an experiment's TOML file, or `ladder`")
        elif target in all_tasks():
            task = get_task(target)
            print_form, format_options = split_formats(task, form or [])
            parameters = task_parameters(task, [*format_options, *context.args])
            # Everybody gets the same items, unless they are private.
            task_seed = 0 if seed is None and not private else seed
            experiment = experiment_of_task(task, parameters, count or 1, task_seed)
        else:
            experiment = experiment_in_file(target, context.args, count, form)
            if seed is not None:
                experiment = experiment.model_copy(update={"seed": seed})
        # All checks come before a private seed is shown.
        if out is not None:
            require(*NEEDS["build"])
        prompts = None
        if prompts_only:
            if out is None:
                raise ExperimentError("--prompts-only needs --out")
            prompts = out.with_name(f"{out.name}-prompts")
            if prompts.exists():
                raise ExperimentError(
                    f"--prompts-only would write {prompts}, which exists; remove it or choose "
                    "another --out"
                )
        experiment = with_seed(experiment, private=private, in_folder=out is not None)
        if out is None:
            if print_form is None:
                kind = "a ladder" if experiment.measures else "an experiment"
                raise ExperimentError(
                    f"{kind} is written to a folder; choose the folder with --out"
                )
            complete = print_cases(experiment, print_form, workers or 1)
        else:
            complete = write_folder(
                experiment,
                out,
                name,
                workers or processors(),
                restart=restart,
                resume=resume,
                quiet=quiet,
            )
            if prompts is not None:
                write_prompts(out, prompts, quiet=quiet)
        if not complete:
            raise typer.Exit(PROBLEMS)


def split_formats(task: Task, values: list[str]) -> tuple[str, list[str]]:
    """Separate the output format from values of a task parameter that is also called format.

    Args:
        task: task to generate.
        values: values of --format, which may be given twice in this case.

    Returns:
        The output format, and the options of the task.

    Raises:
        ExperimentError: the task has no such parameter, or there are two output formats.
    """
    print_forms = [value for value in values if value in PRINT_FORMS]
    parameter_values = [value for value in values if value not in PRINT_FORMS]
    if parameter_values and "format" not in task.builder.space.model_fields:
        raise ExperimentError(
            f"--format must be {' or '.join(PRINT_FORMS)}, not {parameter_values[0]!r}"
        )
    if len(print_forms) > 1:
        raise ExperimentError(f"--format was given twice: {' and '.join(print_forms)}")
    print_form = print_forms[0] if print_forms else PRINT_FORMS[0]
    return print_form, [f"--format={value}" for value in parameter_values]


def task_parameters(task: Task, words: Sequence[str]) -> dict[str, Any]:
    """Return the values of a task's parameters, from words of the command line.

    An option takes its value as ``--length=8`` or as ``--length 8``; a flag is set by ``--flag``
    and unset by ``--no-flag``. Underscores count as hyphens.

    Raises:
        ExperimentError: there is no such parameter, or its value is missing or wrong.
    """
    space = task.builder.space
    options = {f"--{name.replace('_', '-')}": name for name in parameters_of(space)}
    flags = {
        option
        for option, name in options.items()
        if space.model_fields[name].annotation is bool
    }
    parameters: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        option, equals, value = waiting.pop(0).partition("=")
        option = option.replace("_", "-")
        positive = "--" + option.removeprefix("--no-")
        is_negated = option not in options and positive in flags and not equals
        if is_negated:
            option = positive
        if option not in options:
            near = did_you_mean(option, options).replace("'", "")
            raise ExperimentError(
                f"{task.id} has no parameter {option}.{near} Its parameters are "
                f"{', '.join(options)}; `scbench tasks {task.id}` describes them"
            )
        if is_negated:
            value = "false"
        elif not equals:
            if waiting and not waiting[0].startswith("--"):
                value = waiting.pop(0)
            elif option in flags:
                value = "true"
            else:
                raise ExperimentError(f"{option} needs a value")
        name = options[option]
        if name in parameters:
            raise ExperimentError(f"{option} was given twice")
        parameters[name] = read_parameter(space, name, value)
    return parameters


def experiment_of_task(
    task: Task, parameters: dict[str, Any], count: int, seed: int | None
) -> Experiment:
    """Return the experiment that draws a number of items of one task.

    Raises:
        ExperimentError: a parameter is out of bounds.
    """
    # These errors name only the parameter; errors in an experiment also name its file.
    points_of(task, parameters, {}, count)
    return experiment_of(
        {"seed": seed, "task": [{"id": task.id, "count": count, **parameters}]}
    )


def experiment_in_file(
    target: str, words: Sequence[str], count: int | None, form: list[str] | None
) -> Experiment:
    """Return the experiment in a TOML file.

    Raises:
        ExperimentError: there is no such file, it is wrong, or options of a task were given.
    """
    path = Path(target)
    if not path.is_file() and path.suffix != ".toml":
        raise ExperimentError(
            f"{target!r} is neither a task nor a file.{did_you_mean(target, all_tasks())}"
        )
    task_options = list(words)
    if count:
        task_options.append("--count")
    if form:
        task_options.append("--format")
    if task_options:
        raise ExperimentError(
            f"{task_options[0]} works only with a task; an experiment file has its "
            "own settings"
        )
    return read_experiment(path)


def with_seed(experiment: Experiment, *, private: bool, in_folder: bool) -> Experiment:
    """Return an experiment with its seed; a missing private seed is drawn and shown.

    Raises:
        ExperimentError: items with a private seed would be printed.
    """
    private = private or experiment.private
    if private and not in_folder:
        raise ExperimentError("--private needs --out: private items are not printed")
    if experiment.seed is None and private:
        seed = secrets.randbits(128)
        say(f"private seed: {seed}")
        say(
            "keep it, because it is stored nowhere; you need it as --seed to continue or "
            "verify"
        )
        return experiment.model_copy(update={"seed": seed, "private": True})
    if private and experiment.seed is not None and experiment.seed < SHORT_SEED:
        say(
            "warning: a seed below 2^64 can be guessed by trying all such seeds; without "
            "--seed, --private chooses a 128-bit seed"
        )
    return experiment.model_copy(update={"private": private})


def print_cases(experiment: Experiment, print_form: str, workers: int) -> bool:
    """Print the items of one task while they are drawn; return whether all could be drawn."""
    complete = True
    with open_executor(workers) as executor:
        for batch in draw(plan(experiment), experiment.seed or 0, executor, set()):
            task = batch.planned.task
            total = batch.planned.point.count
            for number, case in enumerate(batch.cases, 1):
                if print_form == "jsonl":
                    text = json.dumps(case, ensure_ascii=False)
                else:
                    text = case_text(task, case, number, total)
                sys.stdout.write(text + "\n")
            if batch.reason:
                complete = False
                say(
                    f"{task.id}: only {len(batch.cases)} of {total} items: {batch.reason}"
                )
    sys.stdout.flush()
    return complete


def case_text(task: Task, case: Row, number: int, total: int) -> str:
    """Return an item for people: its number, parameters, prompt and right answer."""
    # The recorded facts of an item are additional fields of its row.
    facts = {
        name: value for name, value in case.items() if name not in Case.model_fields
    }
    values = {**case["params"], **facts}
    label = ", ".join(f"{name} {value}" for name, value in values.items())
    head = f"=== {task.id}, item {number} of {total}, seed {case['seed']}: {label}"
    return f"{head}\n\n{case['input'].rstrip()}\n\n--- target: {case['target']}\n"


def write_folder(
    experiment: Experiment,
    out: Path,
    name: str | None,
    workers: int,
    *,
    restart: bool,
    resume: bool,
    quiet: bool,
) -> bool:
    """Write items and references; return whether there are as many as requested."""
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
                resume=resume,
                on_cases=lambda cases: bar.done(cases, cases),
            )
    except KeyboardInterrupt:
        say("interrupted; run the same command to continue")
        raise typer.Exit(INTERRUPTED) from None
    if generated.resumed and not quiet:
        say(f"{counted(generated.resumed, 'point')} generated before the interruption")
    shortfalls = generated.gathered.shortfalls
    for short in shortfalls:
        parameters = ", ".join(f"{key} {value}" for key, value in short.point.items())
        say(
            f"{short.task}: only {short.got} of {short.asked} items at {parameters}: "
            f"{short.reason}"
        )
    if not quiet:
        manifest = generated.manifest
        say(
            f"{out}: {manifest.version}, {counted(manifest.instances, 'item')}, rows "
            f"{manifest.rows_hash}"
        )
    return not shortfalls


def write_prompts(folder: Path, out: Path, *, quiet: bool) -> None:
    """Write the part of a folder that may be shared: prompts with images and ids."""
    instances = list(open_release(folder).instances().values())
    lines = (
        line_of(request, Form.SCBENCH, Settings())
        for request in requests(instances, 1, ())
    )
    paths = write_files(lines, out, LIMITS[Form.SCBENCH])
    if not quiet:
        names = ", ".join(map(str, paths))
        say(f"{names}: only prompts, safe to share; the answers are in {folder}")
