"""Collecting the checks of a grader into a verdict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard, TypeVar

from scbench.base.model import Check, Verdict

# Checks that any task can have in addition to its own.
COMMON_CHECKS: Mapping[str, str] = {
    "answer_found": "An answer can be read from the response.",
    "answer_schema": "The answer matches the answer schema.",
    "resource_limit": "The answer is small enough to be graded.",
}

T = TypeVar("T")
# Maximum number of offenders listed in a check; the count is always complete.
_MAX_OFFENDERS = 50


class Checklist:
    """Collects checks in the order in which they run.

    A passed check is reported with its requirement, a failed one with the fault.

    Args:
        requirements: id and requirement of every check the grader may make, its ``CHECKS``.

    Raises:
        KeyError: from any method, if a check id is not among the requirements.
    """

    def __init__(self, requirements: Mapping[str, str]) -> None:
        self._requirements = requirements
        self._checks: list[Check] = []

    def requirement(self, check_id: str) -> str:
        """Return the requirement of a check of this grader, or of one that all graders have."""
        return self._requirements.get(check_id) or COMMON_CHECKS[check_id]

    def expect(self, check_id: str, passed: bool, wrong: str, **details: Any) -> bool:  # noqa: ANN401, FBT001
        """Record a check with JSON details and return whether it passed; ``wrong`` is the fault."""
        message = self.requirement(check_id) if passed else wrong
        if passed and not details:
            self._checks.append(passed_check(check_id, message))
        else:
            self._checks.append(Check(check_id, bool(passed), message, details))
        return passed

    def readable(self, value: T | None, wrong: str, why: str) -> TypeGuard[T]:
        """Record whether an answer could be read; if not, skip all other checks, giving ``why``."""
        read = self.expect("readable", value is not None, wrong)
        if not read:
            self.skip(
                [check_id for check_id in self._requirements if check_id != "readable"],
                why,
            )
        return read

    def forbid(
        self, check_id: str, offenders: Sequence[T], wrong: Callable[[T], str]
    ) -> bool:
        """Record a check that passes if there are no offenders; return whether it passed.

        The check records the first 50 offenders as JSON values in a fixed order. If
        there are any, ``wrong`` builds the sentence from the first one.
        """
        if not offenders:
            return self.expect(check_id, True, "")
        return self.expect(
            check_id,
            False,
            wrong(offenders[0]),
            count=len(offenders),
            offenders=list(offenders[:_MAX_OFFENDERS]),
        )

    def forbid_many(
        self,
        check_id: str,
        offenders: Sequence[T],
        fault: str,
        first: Callable[[T], str],
        *,
        one: str = "",
    ) -> bool:
        """Do the same as `forbid`, with the sentence "12 ``fault``; the first ``first``.".

        With ``one``, the sentence on a single offender is "1 ``one``; it ``first``.".
        """

        def sentence(offender: T) -> str:
            if one and len(offenders) == 1:
                return f"1 {one}; it {first(offender)}."
            return f"{len(offenders)} {fault}; the first {first(offender)}."

        return self.forbid(check_id, offenders, sentence)

    def skip(self, check_ids: str | Iterable[str], why: str) -> None:
        """Record that one or more checks could not be evaluated."""
        if isinstance(check_ids, str):
            check_ids = (check_ids,)
        for check_id in check_ids:
            self.requirement(check_id)  # an unknown check is an error here, too
            self._checks.append(Check(check_id, None, why))

    @property
    def all_passed(self) -> bool:
        """Whether every check so far passed."""
        return all(check.passed for check in self._checks)

    def binary(self, **metrics: Any) -> Verdict:  # noqa: ANN401
        """Return the verdict of a task that scores 1 if every check passed, else 0."""
        return self.partial(1.0 if self.all_passed else 0.0, **metrics)

    def partial(self, score: float, **metrics: Any) -> Verdict:  # noqa: ANN401
        """Return a verdict with this score, regardless of the checks."""
        return Verdict(score, tuple(self._checks), metrics)

    def too_large(self, wrong: str) -> Verdict:
        """Return the verdict on an answer that is too large to grade, with the reason."""
        self.expect("resource_limit", False, wrong)
        return self.binary()


@lru_cache(maxsize=1024)
def passed_check(check_id: str, requirement: str) -> Check:
    """Return a passed check without details, always the same object."""
    # Most checks pass, and creating one takes longer than most tests.
    return Check(check_id, True, requirement)


def all_passed(requirements: Mapping[str, str]) -> tuple[Check, ...]:
    """Return the checks of an answer that passes all of these, in order.

    A fast path for answers that are clearly correct: training a model on verdicts takes millions of
    them.
    """
    return tuple(
        Check(check_id, True, message) for check_id, message in requirements.items()
    )


def brief(number: int) -> str:
    """Return an integer of any size in few characters."""
    return str(number) if abs(number) < 10**30 else "a number with more than 30 digits"
