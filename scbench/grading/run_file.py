"""Metadata of runs from a file beside the predictions, for lines that say nothing themselves."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import JsonError, PredictionsError, faults_of
from scbench.base.model import Count, RunMetadata, Setting

MOST_BYTES = 1_000_000

Described = Sequence[tuple[str | None, str | None, int | None, str]]
"""Model, setting and budget of runs, None for any, with their metadata as canonical JSON."""


class DescribedRun(RunMetadata):
    """Metadata, and the runs that it is of: those with this model, setting and budget."""

    model: str | None = None
    setting: Setting | None = None
    budget: Count | None = None


_RUNS: TypeAdapter[list[DescribedRun]] = TypeAdapter(list[DescribedRun])


def read_run_file(path: Path) -> Described:
    """Read a file of metadata: a JSON object that is of all runs, or a list of such.

    Raises:
        PredictionsError: it cannot be read, or says what it cannot.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise PredictionsError(f"{path} has more than {MOST_BYTES:,} bytes")
        value = parse_json(data)
        runs = _RUNS.validate_python(value if isinstance(value, list) else [value])
    except OSError as error:
        raise PredictionsError(f"cannot read {path}: {error.strerror}") from None
    except JsonError as error:
        raise PredictionsError(f"{path} is not JSON: {error}") from None
    except ValidationError as error:
        raise PredictionsError(f"{path}: {'; '.join(map(str, faults_of(error, 3)))}") from None
    keys = {"model", "setting", "budget"}
    return [
        (
            run.model,
            run.setting,
            run.budget,
            canonical_json(run.model_dump(mode="json", exclude_none=True, exclude=keys)),
        )
        for run in runs
    ]


def metadata_of(
    model: str, setting: str | None, budget: int | None, described: Described
) -> str | None:
    """Return what a file says of a run: the last entry that is of it."""
    metadata = None
    for *pattern, text in described:
        pairs = zip(pattern, (model, setting, budget), strict=True)
        if all(entry is None or entry == value for entry, value in pairs):
            metadata = text
    return metadata
