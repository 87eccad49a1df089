"""Running a model with Inspect, which provides prompts, retries, resuming and logs."""

import asyncio
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai import Task, eval_set
from inspect_ai._util import dotenv as inspect_dotenv
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.hooks import Hooks, ModelRetry, SampleEnd, hooks
from inspect_ai.log import (
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
)
from inspect_ai.model import GenerateConfig, Model, get_model
from rich.text import Text
from tenacity import RetryError
from typing_extensions import override

from scbench.base.canonical import content_hash
from scbench.base.errors import PredictionsError, ResultsError
from scbench.base.wording import counted
from scbench.formats.imports.inspect_logs import call_error, error_message
from scbench.integrations.inspect.exhaustion import Watch, current_watch, watching
from scbench.integrations.inspect.listening import (
    Listener,
    keep_raw_responses,
    listening,
)
from scbench.integrations.inspect.tasks import TASKS, loop
from scbench.integrations.inspect.tracebacks import shorten_tracebacks
from scbench.machine.files import (
    open_regular,
    read_regular,
    remove_parts,
    whole_file,
)
from scbench.machine.work_folder import MARKER, WorkFolder

# The file with a run's item ids, next to its logs.
_IDS = "ids.txt"
# The first call, which detects a wrong model, key or address early.
_TEST_PROMPT = "Answer with the one word: yes"
_TEST_CALL_RETRIES = 2
# Time limit of that call, including retries.
_TEST_CALL_SECONDS = 60
# Characters of a provider's error that are printed.
_MAX_ERROR = 300
# The beginning of Pydantic's warnings about responses that do not fit the provider's format.
_ODD_RESPONSE = "Pydantic serializer warnings"
# Characters of a model's name in the mark of a folder.
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """The options that define a run. A folder contains one run.

    Attributes:
        model: name of the model in Inspect, such as openai/gpt-5 or
            openai-api/SERVICE/MODEL.
        release: version of the release; a folder or archive by its path.
        parameters: parameters of the task without the budget, see
            `scbench.integrations.inspect.tasks`.
        sampling: options of sampling by Inspect's names: temperature, seed.
        budgets: limits of output tokens, each of which is a separate run; empty for none.
        model_args: other options of the provider.
    """

    model: str
    release: str
    parameters: Mapping[str, Any]
    sampling: Mapping[str, Any] = field(default_factory=dict)
    budgets: Sequence[int] = ()
    model_args: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """The model and a hash of all options, on one line."""
        return f"{self.model[:_MAX_NAME]} {content_hash(asdict(self))[:16]}"


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """The options of one call of `play`; later calls may continue the same run with other values.

    Attributes:
        samples: answers to request for each item.
        limit: number of items to run; None for all.
        ids: run only these items and those of earlier calls in the folder; None for
            all.
        base_url: URL of the endpoint; None for the provider's.
        max_connections: calls at a time; None for Inspect's own rule.
        max_retries: retries of a call that the provider could not answer.
        timeout: time limit in seconds for a call with its retries; None for no limit.
        attempt_timeout: time limit in seconds for one attempt; None for the provider's.
        resume: continue a run even if this user did not start it on this machine.
        warn: called with a warning.
        on_reply: called with the number of replies so far, the total number, and the
            cost as text.
        on_error: called with the message of a failure, before a call is retried.
        say: called with the next step.
    """

    samples: int
    limit: int | None
    ids: Sequence[str] | None
    base_url: str | None
    max_connections: int | None
    max_retries: int
    timeout: int | None = None
    attempt_timeout: int | None = None
    resume: bool = False
    warn: Callable[[str], object] | None = None
    on_reply: Callable[[int, int, str], object] | None = None
    on_error: Callable[[str], object] | None = None
    say: Callable[[str], object] | None = None


class Played(NamedTuple):
    """The result of a run.

    Attributes:
        complete: whether every call was answered.
        logs: paths of the logs.
        exhausted: message of the failures that stopped the run early; empty otherwise.
    """

    complete: bool
    logs: list[str]
    exhausted: str


def play(plan: Plan, play_options: PlayOptions, logs: Path) -> Played:
    """Ask a model, or continue an interrupted run; create the folder of logs if necessary.

    Raises:
        PredictionsError: the model cannot be asked.
        ResultsError: the folder is not ours, is in use, or contains a different run.
        KeyboardInterrupt: the replies so far are in the logs.
    """
    folder = WorkFolder(logs)
    begun = any(path.name != MARKER for path in logs.iterdir())
    if begun and not play_options.resume and not folder.is_own():
        folder.close()
        raise ResultsError(
            f"{logs} contains a run that you did not start on this machine; continue it with "
            "--resume if you trust its answers, or choose another --out"
        )
    try:
        if begun and folder.previous != plan.identity:
            owner = folder.previous.rpartition(" ")[0]
            raise ResultsError(
                f"{logs} contains a different run, of {owner}; repeat its options to continue "
                "it, or choose another --out"
            )
        if begun:
            for place in (logs, logs.parent):
                remove_parts(place)
            check_logs(logs)
            # A run continued with --resume is this user's own from now on.
            folder.mark(plan.identity)
        shorten_tracebacks()
        with _inspect_silent(), without_dotenv():
            try:
                model = get_model(
                    plan.model, base_url=play_options.base_url, **plan.model_args
                )
            # Providers raise these for unknown names.
            except (ValueError, TypeError) as error:
                raise PredictionsError(
                    f"Inspect cannot use {plan.model}: {error}"
                ) from None
            if not begun:
                if play_options.say is not None:
                    where = f" at {model.api.base_url}" if model.api.base_url else ""
                    play_options.say(f"testing {plan.model}{where} with a short call")
                asyncio.run(send_test_call(model))
                folder.mark(plan.identity)
                begun = True
            return run_evals(plan, play_options, model, logs)
    finally:
        # Without a run, the folder is restored.
        if begun:
            folder.close()
        else:
            folder.remove()


def check_logs(logs: Path) -> None:
    """Check that the logs of an interrupted run can be read, because Inspect's errors are obscure.

    Raises:
        ResultsError: a log cannot be read, or a file is a link, which Inspect would write through.
    """
    for path in sorted(logs.iterdir()):
        if path.is_symlink():
            raise ResultsError(f"{path} is a link; replace it with its file")
    for path in sorted(logs.glob("*.eval")):
        try:
            # Opening a named pipe would wait for its writer.
            open_regular(path).close()
            read_eval_log(str(path), header_only=True)
        # The library has no specific exception for logs that it cannot read.
        except Exception as error:
            raise ResultsError(
                f"{path} is damaged ({first_words(error)}); move it elsewhere, and its "
                "prompts will be sent again"
            ) from error


def first_words(error: Exception) -> str:
    """Return the beginning of an error's message, or its class if the message is empty."""
    # The text of a system error repeats the path.
    message = error.strerror if isinstance(error, OSError) else str(error)
    return " ".join((message or "").split())[:_MAX_ERROR] or type(error).__name__


@contextmanager
def _inspect_silent() -> Iterator[None]:
    """Silence Inspect; convert its errors about options to ours."""
    with Path("/dev/null").open("w") as nowhere:
        try:
            with redirect_stdout(nowhere), warnings.catch_warnings():
                warnings.filterwarnings("ignore", _ODD_RESPONSE)
                yield
        except PrerequisiteError as error:
            text = Text.from_markup(str(error.message)).plain
            words = text.removeprefix("ERROR: ").split()
            raise PredictionsError(" ".join(words)) from None


@contextmanager
def without_dotenv() -> Iterator[None]:
    """Keep Inspect from reading a ``.env`` file while the block runs.

    Inspect reads the file of the working folder or of a folder above it, which may come from
    someone else's archive. With variables such as PYTHONPATH or SCBENCH_TERRAIN_PYTHON, it could
    run code in the processes that grade.
    """
    names = vars(inspect_dotenv)
    original = names["find_dotenv"]
    names["find_dotenv"] = lambda *_, **__: ""
    try:
        yield
    finally:
        names["find_dotenv"] = original


async def send_test_call(model: Model) -> None:
    """Ask for one word.

    Raises:
        PredictionsError: the model does not answer.
    """
    where = f" (asked at {model.api.base_url})" if model.api.base_url else ""
    try:
        config = GenerateConfig(max_retries=_TEST_CALL_RETRIES)
        keep_raw_responses(model.api)
        async with asyncio.timeout(_TEST_CALL_SECONDS):
            with listening(Listener(Watch())):
                await model.generate(_TEST_PROMPT, config=config)
    except PrerequisiteError:
        raise
    except TimeoutError:
        raise PredictionsError(
            f"{model} is not responding: no reply within {_TEST_CALL_SECONDS} s{where}"
        ) from None
    except Exception as error:  # noqa: BLE001  (each provider has its own)
        cause: BaseException = error
        if isinstance(error, RetryError):
            cause = error.last_attempt.exception() or error
        words = f"{call_error(str(cause))} {cause.__cause__ or ''}"
        message = " ".join(words.split())[:_MAX_ERROR]
        raise PredictionsError(
            f"{model} does not answer: {type(cause).__name__}: {message}{where}"
        ) from None


def run_evals(
    plan: Plan, play_options: PlayOptions, model: Model, logs: Path
) -> Played:
    """Run Inspect on all tasks of a plan, see `play`."""
    # Checked before storing the ids, so that wrong options change nothing in the
    # folder.
    tasks = tasks_of(plan)
    ids = play_options.ids
    if ids is not None:
        ids = _with_earlier_ids(ids, logs / _IDS)
    with (
        watching() as watch,
        _reply_counts(tasks, replace(play_options, ids=ids), logs),
    ):
        earlier = len(_Replies.answered)
        if earlier and play_options.warn is not None:
            play_options.warn(
                f"continuing the run in {logs}, which has {counted(earlier, 'answer')}; to run "
                "everything again, choose another --out"
            )
        complete, logged = eval_set(
            tasks,
            log_dir=str(logs),
            model=model,
            epochs=play_options.samples,
            limit=play_options.limit,
            sample_id=ids,
            # The logs are graded afterwards as one run, like all other files.
            score=False,
            # Whatever Inspect's environment variables say.
            log_format="eval",
            # A failed call is retried once, and again when the run is continued.
            fail_on_error=True,
            continue_on_fail=True,
            retry_attempts=1,
            max_retries=play_options.max_retries,
            max_connections=play_options.max_connections,
            timeout=play_options.timeout,
            attempt_timeout=play_options.attempt_timeout or play_options.timeout,
            # Inspect's display shows each error with its whole request.
            display="none",
            ctl_server=False,
            **plan.sampling,
        )
    # Inspect returns after Ctrl-C, with the logs so far.
    if len(logged) < len(tasks):
        raise KeyboardInterrupt
    paths = [str(logs / log.location.rpartition("/")[2]) for log in logged]
    return Played(complete, paths, watch.verdict)


def tasks_of(plan: Plan) -> list[Task]:
    """Return a task of Inspect for each budget of a run; without budgets, one task."""
    parameters = {
        name: value for name, value in plan.parameters.items() if value is not None
    }
    make: Callable[..., Task] = loop if "setting" in parameters else TASKS["spatial"]
    if not plan.budgets:
        return [make(**parameters)]
    return [make(**parameters, budget=budget) for budget in plan.budgets]


def _with_earlier_ids(ids: Sequence[str], path: Path) -> list[str]:
    """Add ids to those of earlier calls, because a continued run keeps its replies.

    Raises:
        OSError: the earlier ids cannot be read.
        ResultsError: the earlier ids are damaged.
    """
    earlier: list[str] = []
    if path.exists():
        try:
            earlier = read_regular(path).decode().splitlines()
        except UnicodeDecodeError:
            raise ResultsError(
                f"{path} is damaged: it is not UTF-8; delete it to run only the items in --ids"
            ) from None
    together = list(dict.fromkeys([*earlier, *ids]))
    lines = "".join(f"{row_id}\n" for row_id in together)
    # A killed process must not lose the earlier ids.
    with whole_file(path) as part:
        part.write_text(lines, "utf-8")
    return together


@contextmanager
def _reply_counts(
    tasks: Sequence[Task], play_options: PlayOptions, logs: Path
) -> Iterator[None]:
    """Count replies while the block runs, including those of earlier calls."""
    _Replies.total = 0
    for task in tasks:
        items = len(task.dataset) if play_options.ids is None else len(play_options.ids)
        _Replies.total += min(items, play_options.limit or items) * play_options.samples
    _Replies.answered = set()
    _Replies.tokens = 0
    _Replies.failures = 0
    _Replies.cost = None
    for log in list_eval_logs(str(logs)):
        for row in read_eval_log_sample_summaries(log):
            if row.completed and row.error is None:
                _Replies.answered.add((row.id, row.epoch, row.metadata.get("budget")))
    _Replies.on_reply = play_options.on_reply
    _Replies.on_error = play_options.on_error
    _Replies.is_running = True
    try:
        yield
    finally:
        _Replies.is_running = False


@hooks("scbench_replies", "Counts the replies of `scbench run`.")
class _Replies(Hooks):
    """The counts of one run. Inspect creates the only object, so counts are class attributes."""

    is_running = False
    on_reply: Callable[[int, int, str], object] | None = None
    on_error: Callable[[str], object] | None = None
    total = 0
    # Id, epoch and budget of each sample that has a reply.
    answered: set[tuple[object, ...]] = set()  # noqa: RUF012  (one run at a time)
    tokens = 0
    failures = 0
    cost: float | None = None

    @override
    def enabled(self) -> bool:
        return _Replies.is_running

    @override
    async def on_sample_end(self, data: SampleEnd) -> None:
        cls = _Replies
        sample = data.sample
        if sample.error is None:
            cls.answered.add((sample.id, sample.epoch, sample.metadata.get("budget")))
        else:
            cls.failures += 1
            watch = current_watch()
            if watch is not None:
                watch.failed(error_message(sample.error), last_try=True)
        for usage in sample.model_usage.values():
            cls.tokens += usage.total_tokens
            if usage.total_cost is not None:
                cls.cost = (cls.cost or 0.0) + usage.total_cost
        parts = [f"{cls.tokens:,} tokens"]
        if cls.cost is not None:
            parts.append(f"{cls.cost:,.2f} USD")
        if cls.failures:
            parts.append(counted(cls.failures, "failed call"))
        if cls.on_reply is not None:
            cls.on_reply(len(cls.answered), cls.total, ", ".join(parts))

    @override
    async def on_model_retry(self, data: ModelRetry) -> None:
        watch = current_watch()
        if _Replies.on_error is not None and watch is not None and watch.latest:
            wait = f"; retrying in {data.wait_time:,.0f} s"
            _Replies.on_error(watch.latest[:_MAX_ERROR] + wait)
