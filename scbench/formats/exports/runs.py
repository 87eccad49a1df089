"""Results by run and try, as the schemas of others want them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scbench.base.canonical import content_hash
from scbench.base.model import Instance


@dataclass(frozen=True, slots=True)
class Try:
    """One answer to one instance.

    Attributes:
        score: the mean of its scores; None if it has none, and the status says why.
        answer: as JSON; empty if none was found.
        explanation: the reason why there is no answer or score, or the checks that failed.
        usage: what the provider reported.
    """

    instance: Instance
    sample: int
    status: str
    score: float | None
    answer: str
    explanation: str
    finish_reason: str | None
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """All answers of one run.

    Attributes:
        date: of the answers, midnight in UTC.
        release: version of the release it was graded against.
        graders: version of each task's grader.
        lines: rows of the table by bucket, see `score_table`.
        task_lines: those of the table by task.
        tries: in the order of the results.
    """

    model: str
    setting: str | None
    budget: int | None
    date: datetime
    release: str
    graders: Mapping[str, int]
    lines: list[dict[str, Any]]
    task_lines: list[dict[str, Any]]
    tries: list[Try]

    @property
    def name(self) -> str:
        """What tells it apart from others, for names of files."""
        parts = [self.model, self.setting, None if self.budget is None else str(self.budget)]
        return re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(filter(None, parts)))[:100]

    @property
    def key(self) -> str:
        """A short hash of what was graded, the same on every machine."""
        scores = [[trial.instance.content_hash, trial.sample, trial.score] for trial in self.tries]
        identity = [self.model, self.setting, self.budget, self.release]
        return content_hash([*identity, scores])[:16]
