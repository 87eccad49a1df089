"""The setting retry: the model answers and sees its errors until an answer is correct."""

from typing_extensions import override

from scbench.base.wording import counted
from scbench.loop.disclosure import disclosure_lines, one_right
from scbench.loop.games import TEXTS, UNJUDGED, Game, Move, is_answer, is_unscored


class Retry(Game):
    """Answers until one gets the full score or all attempts are used."""

    @property
    @override
    def limit(self) -> int:
        return self.setup.attempts

    @property
    @override
    def rules(self) -> str:
        disclosure = self.setup.disclose
        # If only one answer is right, the model gets only the rules of failed checks.
        if disclosure != "score" and one_right(self.task):
            disclosure_text = TEXTS["tells"]["one_right"]
        else:
            disclosure_text = TEXTS["tells"][disclosure]
        return TEXTS["rules"]["retry"].format(
            attempts=self.limit,
            plural="s" if self.limit > 1 else "",
            tells=disclosure_text,
        )

    @override
    def take(self, reply: str) -> Move:
        outcome = self.judge_reply(reply)
        if is_unscored(outcome):
            self.over = True
            return Move(UNJUDGED, outcome)
        head = f"Answer {self.turn} of {self.limit}: "
        if is_answer(outcome):
            lines = [f"{head}score {score_text(outcome.score or 0.0)} of 1."]
            lines += disclosure_lines(self.task, outcome.verdicts, self.setup.disclose)
        else:
            lines = [f"{head}no readable answer in this reply."]
        is_full = outcome.score == 1
        self.over = is_full or not self.replies_left
        if is_full:
            lines.append("This is the full score. The trial is over.")
        elif self.over:
            lines.append("That was the last attempt. The trial is over.")
        else:
            lines.append(f"You have {counted(self.replies_left, 'attempt')} left.")
        return Move("\n".join(lines), outcome)


def score_text(score: float) -> str:
    """Return a score with six digits; only exactly 1 is shown as "1", because it ends the trial."""
    text = f"{score:.6g}"
    if text == "1" and score != 1:
        return "just below 1"
    return text
