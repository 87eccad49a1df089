"""Results in the schemas of others: every-eval-ever, logs of Inspect, lm-evaluation-harness."""

from enum import StrEnum


class Schema(StrEnum):
    """Whose files are written."""

    EVERY_EVAL_EVER = "every-eval-ever"
    INSPECT = "inspect"
    LM_EVAL = "lm-eval"
