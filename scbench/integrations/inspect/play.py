"""Playing a model by Inspect: prompts, retries, resuming and logs are all its own."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.log import list_eval_logs, read_eval_log_sample_summaries
from inspect_ai.model import GenerateConfig, Model, get_model
from rich.text import Text
from tenacity import RetryError
from typing_extensions import override

from scbench.base.canonical import content_hash
from scbench.base.errors import PredictionsError, ResultsError
from scbench.formats.imports.inspect_logs import call_error
from scbench.integrations.inspect.tasks import TASKS, loop
from scbench.machine.work_folder import WorkFolder

_IDS = "ids.txt"
_HELLO = "Answer with the one word: yes"
_HELLO_RETRIES = 2
# For that word, tries included.
_HELLO_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is. A folder holds one."""

    model: (
        str  #: Inspect's name of it, such as openai/gpt-5 or openai-api/SERVICE/MODEL.
    )
    release: str  #: version of the release; a folder or archive by its path.
    #: of the task, see `scbench.integrations.inspect.tasks`, without the budget.
    parameters: Mapping[str, Any]
    #: sampling, by Inspect's names: temperature, seed.
    sampling: Mapping[str, Any] = field(default_factory=dict)
    budgets: Sequence[
        int
    ] = ()  #: limits of output tokens, each a run of its own; empty for none.
    model_args: Mapping[str, Any] = field(
        default_factory=dict
    )  #: what the provider takes besides.

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
    max_retries: (
        int  #: how often a call is made again that the provider could not answer.
    )
    timeout: int | None = None  #: seconds for a call with its tries; None for no limit.
    attempt_timeout: int | None = (
        None  #: seconds for one of them; None for the provider's.
    )
    #: is called with replies so far, how many there will be, and what they cost, in words.
    on_reply: Callable[[int, int, str], object] | None = None
    say: Callable[[str], object] | None = None  #: takes what is done next.


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
        with _inspect_silent():
            try:
                model = get_model(plan.model, base_url=pace.base_url, **plan.model_args)
            except (ValueError, TypeError) as error:  # what providers raise for a name
                raise PredictionsError(
                    f"Inspect cannot use {plan.model}: {error}"
                ) from None
            if not begun:
                if pace.say is not None:
                    where = f" at {model.api.base_url}" if model.api.base_url else ""
                    pace.say(f"asking {plan.model}{where} for one word")
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
        async with asyncio.timeout(_HELLO_SECONDS):
            await model.generate(_HELLO, config=config)
    except PrerequisiteError:
        raise
    except TimeoutError:
        raise PredictionsError(
            f"{model} does not answer: nothing came within {_HELLO_SECONDS} s{_where(model)}"
        ) from None
    except Exception as error:  # noqa: BLE001  (each provider has its own)
        last = error.last_attempt.exception() if isinstance(error, RetryError) else None
        cause = last or error
        words = f"{call_error(str(cause))} {cause.__cause__ or ''}"
        message = " ".join(words.split())[:300]
        raise PredictionsError(
            f"{model} does not answer: {type(cause).__name__}: {message}{_where(model)}"
        ) from None


def _where(model: Model) -> str:
    return f" (asked at {model.api.base_url})" if model.api.base_url else ""


@hooks("scbench_replies", "Counts the replies of `scbench run`.")
class _Replies(Hooks):
    """What has come so far. Inspect makes one of it; who counts stands in the class."""

    on_reply: Callable[[int, int, str], object] | None = None
    total = 0
    answered: set[tuple[object, ...]] = set()  # noqa: RUF012  (one run at a time)
    tokens = failures = 0
    cost: float | None = None

    @override
    def enabled(self) -> bool:
        return _Replies.on_reply is not None

    @override
    async def on_sample_end(self, data: SampleEnd) -> None:
        cls, sample = _Replies, data.sample
        if sample.error is None:
            cls.answered.add((sample.id, sample.epoch, sample.metadata.get("budget")))
        cls.failures += sample.error is not None
        for usage in sample.model_usage.values():
            cls.tokens += usage.total_tokens
            if usage.total_cost is not None:
                cls.cost = (cls.cost or 0.0) + usage.total_cost
        parts = [f"{cls.tokens:,} tokens"]
        parts += [] if cls.cost is None else [f"{cls.cost:,.2f} $"]
        parts += [f"{cls.failures:,} failed calls"] if cls.failures else []
        if cls.on_reply is not None:
            cls.on_reply(len(cls.answered), cls.total, ", ".join(parts))


@contextmanager
def _reply_counts(tasks: Sequence[Task], pace: Pace, logs: Path) -> Iterator[None]:
    """Count replies while the block runs, those of earlier calls among them."""
    sizes = [len(task.dataset) if pace.ids is None else len(pace.ids) for task in tasks]
    _Replies.total = sum(min(size, pace.limit or size) for size in sizes) * pace.samples
    _Replies.answered, _Replies.tokens, _Replies.failures, _Replies.cost = (
        set(),
        0,
        0,
        None,
    )
    for log in list_eval_logs(str(logs)) if pace.on_reply else ():
        for row in read_eval_log_sample_summaries(log):
            if row.completed and row.error is None:
                _Replies.answered.add((row.id, row.epoch, row.metadata.get("budget")))
    _Replies.on_reply = pace.on_reply
    try:
        yield
    finally:
        _Replies.on_reply = None


def _run_evals(
    plan: Plan, pace: Pace, model: Model, logs: Path
) -> tuple[bool, list[str]]:
    parameters = {
        name: value for name, value in plan.parameters.items() if value is not None
    }
    make: Callable[..., Task] = loop if "setting" in parameters else TASKS["spatial"]
    tasks = [
        make(**parameters, **({} if budget is None else {"budget": budget}))
        for budget in plan.budgets or (None,)
    ]
    ids = None if pace.ids is None else _with_earlier_ids(pace.ids, logs / _IDS)
    with _reply_counts(tasks, replace(pace, ids=ids), logs):
        complete, logged = eval_set(
            tasks,
            log_dir=str(logs),
            model=model,
            epochs=pace.samples,
            limit=pace.limit,
            sample_id=ids,
            # The logs are graded as one run afterwards, in the way of all other files.
            score=False,
            # What was never answered is asked once more, and again by the next call.
            fail_on_error=True,
            continue_on_fail=True,
            retry_attempts=1,
            max_retries=pace.max_retries,
            max_connections=pace.max_connections,
            timeout=pace.timeout,
            attempt_timeout=pace.attempt_timeout or pace.timeout,
            display="none",  # it shows each error with all that was asked
            ctl_server=False,
            **plan.sampling,
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
def _inspect_silent() -> Iterator[None]:
    """Let Inspect print nothing; what it misses is an error of ours."""
    with Path("/dev/null").open("w") as nowhere:
        try:
            with redirect_stdout(nowhere):
                yield
        except PrerequisiteError as error:
            text = Text.from_markup(str(error.message)).plain
            raise PredictionsError(
                " ".join(text.removeprefix("ERROR: ").split())
            ) from None
