"""Playing a model by Inspect: prompts, retries, resuming and logs are all its own."""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai import eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, get_model
from rich.text import Text
from tenacity import RetryError

from scbench.base.canonical import content_hash
from scbench.base.errors import PredictionsError, ResultsError
from scbench.integrations.inspect.tasks import TASKS
from scbench.machine.work_folder import WorkFolder

_IDS = "ids.txt"
_HELLO = "Answer with the one word: yes"
_HELLO_RETRIES = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is. A folder holds one."""

    model: str  #: Inspect's name of it, such as openai/gpt-5 or openai-api/SERVICE/MODEL.
    release: str  #: version of the release; a folder or archive by its path.
    #: of the task, see `scbench.integrations.inspect.tasks`, without the budget.
    parameters: Mapping[str, Any]
    budgets: Sequence[int] = ()  #: limits of output tokens, each a run of its own; empty for none.
    model_args: Mapping[str, Any] = field(default_factory=dict)  #: what the provider takes besides.

    @property
    def identity(self) -> str:
        """What tells it from others in a line."""
        return f"{self.model[:200]} {content_hash(asdict(self))[:16]}"


@dataclass(frozen=True, slots=True)
class Pace:
    """How much of a run is made and how; another may go on with the same folder."""

    samples: int  #: how often each item is asked.
    limit: int | None  #: how many items are asked; None for all.
    #: only these, and those that the folder was begun with; None for all.
    ids: Sequence[str] | None
    base_url: str | None  #: of the endpoint; None for the provider's.
    max_connections: int | None  #: calls at a time; None for Inspect's own rule.
    max_retries: int  #: how often a call is made again that the provider could not answer.
    quiet: bool  #: whether nothing is shown.


def play(plan: Plan, pace: Pace, logs: Path) -> tuple[bool, list[str]]:
    """Ask a model, or go on where that was interrupted, with logs in a folder, made if need be.

    Returns:
        Whether every call was answered; and the logs.

    Raises:
        PredictionsError: the model cannot be asked.
        ResultsError: the folder is not ours, is in use, or holds another run.
        KeyboardInterrupt: what was answered is kept.
    """
    folder = WorkFolder(logs)
    begun = bool(folder.previous) and any(logs.glob("*.eval"))
    try:
        if begun and folder.previous != plan.identity:
            owner = folder.previous.rpartition(" ")[0]
            raise ResultsError(
                f"{logs} holds another run, of {owner}: it continues only with the same options; "
                "for others choose another --out"
            )
        with _inspect_speaking(quiet=pace.quiet):
            try:
                model = get_model(plan.model, base_url=pace.base_url, **plan.model_args)
            except (ValueError, TypeError) as error:  # what providers raise for a name
                raise PredictionsError(f"Inspect cannot use {plan.model}: {error}") from None
            if not begun:
                asyncio.run(_greet(model))
                folder.mark(plan.identity)
                begun = True
            return _run_evals(plan, pace, model, logs)
    finally:
        if begun:
            folder.close()
        else:
            folder.remove()


async def _greet(model: Model) -> None:
    """Ask for a word: a wrong name, key or address is told before hundreds of calls."""
    try:
        config = GenerateConfig(max_retries=_HELLO_RETRIES)
        await model.generate(_HELLO, config=config)
    except PrerequisiteError:
        raise
    except Exception as error:  # noqa: BLE001  (each provider has its own)
        last = error.last_attempt.exception() if isinstance(error, RetryError) else None
        cause = last or error
        # Inspect's own error of a refused request begins with an empty line.
        message = " ".join(f"{cause} {cause.__cause__ or ''}".split())[:300]
        where = f" (asked at {model.api.base_url})" if model.api.base_url else ""
        raise PredictionsError(
            f"{model} does not answer: {type(cause).__name__}: {message}{where}"
        ) from None


def _run_evals(plan: Plan, pace: Pace, model: Model, logs: Path) -> tuple[bool, list[str]]:
    parameters = {name: value for name, value in plan.parameters.items() if value is not None}
    tasks = [
        TASKS["spatial"](**parameters, **({} if budget is None else {"budget": budget}))
        for budget in plan.budgets or (None,)
    ]
    complete, logged = eval_set(
        tasks,
        log_dir=str(logs),
        model=model,
        epochs=pace.samples,
        limit=pace.limit,
        sample_id=None if pace.ids is None else _with_earlier_ids(pace.ids, logs / _IDS),
        # The logs are graded as one run afterwards, in the way of all other files.
        score=False,
        # What was never answered is asked once more, and again by the next call.
        fail_on_error=True,
        continue_on_fail=True,
        retry_attempts=1,
        max_retries=pace.max_retries,
        max_connections=pace.max_connections,
        display="none" if pace.quiet else "rich" if sys.stderr.isatty() else "plain",
        ctl_server=False,
    )
    if len(logged) < len(tasks):  # how it tells of Ctrl-C
        raise KeyboardInterrupt
    return complete, [str(logs / log.location.rpartition("/")[2]) for log in logged]


def _with_earlier_ids(ids: Sequence[str], path: Path) -> list[str]:
    """Add ids to those of earlier calls: a run that goes on keeps what was answered."""
    earlier = path.read_text("utf-8").splitlines() if path.exists() else []
    together = list(dict.fromkeys([*earlier, *ids]))
    path.write_text("".join(f"{row_id}\n" for row_id in together), "utf-8")
    return together


@contextmanager
def _inspect_speaking(*, quiet: bool) -> Iterator[None]:
    """Let Inspect speak on standard error, or not at all; what it misses is an error of ours."""
    with Path("/dev/null").open("w") as nowhere:
        try:
            with redirect_stdout(nowhere if quiet else sys.stderr):
                yield
        except PrerequisiteError as error:
            text = Text.from_markup(str(error.message)).plain
            raise PredictionsError(" ".join(text.removeprefix("ERROR: ").split())) from None
