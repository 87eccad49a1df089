"""Run metadata from a file next to the predictions, for lines without metadata."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import JsonError, PredictionsError, faults_of
from scbench.base.model import Count, RunMetadata, Setting
from scbench.machine.files import read_regular

# A larger file is not read.
MOST_BYTES = 1_000_000


class DescribedRun(NamedTuple):
    """Metadata as canonical JSON, and the runs to which it applies; None matches any."""

    model: str | None
    setting: str | None
    budget: int | None
    metadata: str

    def matches(self, model: str, setting: str | None, budget: int | None) -> bool:
        """Return whether the metadata applies to a run."""
        return (
            self.model in {None, model}
            and self.setting in {None, setting}
            and self.budget in {None, budget}
        )


Described = Sequence[DescribedRun]


class RunFileEntry(RunMetadata):
    """An entry of the file: metadata, and the runs that it describes."""

    model: str | None = None
    setting: Setting | None = None
    budget: Count | None = None

    def described(self) -> DescribedRun:
        """Return the entry with its metadata as canonical JSON."""
        metadata = self.model_dump(
            mode="json", exclude_none=True, exclude={"model", "setting", "budget"}
        )
        return DescribedRun(
            self.model, self.setting, self.budget, canonical_json(metadata)
        )


def read_run_file(path: Path) -> Described:
    """Read a metadata file: a JSON object that describes all runs, or a list of objects.

    Raises:
        PredictionsError: the file cannot be read, or does not have this form.
    """
    try:
        data = read_regular(path, MOST_BYTES)
        if len(data) > MOST_BYTES:
            raise PredictionsError(f"{path} is larger than {MOST_BYTES:,} bytes")
        value = parse_json(data)
        values = value if isinstance(value, list) else [value]
        entries = TypeAdapter(list[RunFileEntry]).validate_python(values)
    except OSError as error:
        raise PredictionsError(f"cannot read {path}: {error.strerror}") from None
    except JsonError as error:
        raise PredictionsError(f"{path} is not JSON: {error}") from None
    except ValidationError as error:
        faults = "; ".join(map(str, faults_of(error, 3)))
        raise PredictionsError(f"{path}: {faults}") from None
    return [entry.described() for entry in entries]


def metadata_of(
    model: str, setting: str | None, budget: int | None, described: Described
) -> str | None:
    """Return the metadata of a run as canonical JSON, from the last matching entry."""
    for run in reversed(described):
        if run.matches(model, setting, budget):
            return run.metadata
    return None
