"""What one turn of the loop costs for each task: milliseconds, and characters shown to the model.

    python tools/turn_costs.py [TASK ...]

Of each task the first instance of the newest release is answered once with its reference and once
with the first stored answer that is readable and wrong, as in setting ``retry``; neither was judged
before, but the libraries are loaded. Prints a table as Markdown: the rules in the prompt, the
verdict, and what each disclosure tells of the wrong answer.
"""

import json
import sys
import time

from scbench.base.model import Instance
from scbench.loop import Environment, Setup, Step
from scbench.release.load import Reference, find_release

LEVELS = ("score", "checks", "places")


def turn(instance: Instance, answer: str, disclose: str) -> tuple[Step, float, int]:
    """Return the step, its milliseconds, and the characters that the rules add to the prompt."""
    environment = Environment(Setup(setting="retry", disclose=disclose))  # type: ignore[arg-type]
    extra = len(environment.reset(instance)) - len(instance.prompt)
    begin = time.perf_counter()
    step = environment.step(answer)
    return step, 1000 * (time.perf_counter() - begin), extra


def wrong_turns(
    instance: Instance, answers: list[Reference]
) -> tuple[float, list[int], int]:
    """Return milliseconds and characters by disclosure of the first wrong answer that is read."""
    for answer in answers:
        step, milliseconds, rules = turn(instance, fenced(answer.answer), "places")
        if step.info["score"] is not None and step.info["score"] < 1:
            sizes = [
                len(turn(instance, fenced(answer.answer), level)[0].observation)
                for level in LEVELS
            ]
            return milliseconds, sizes, rules
    raise SystemExit(f"{instance.id}: no stored answer is readable and wrong")


def fenced(answer: str) -> str:
    """Return a reply with an answer in it."""
    return f"Here it is.\n\n```json\n{answer}\n```"


def main(names: list[str]) -> None:
    """Print the table."""
    release = find_release()
    instances = release.instances(names or None)
    answers: dict[str, list[Reference]] = {}
    for reference in release.references():
        answers.setdefault(reference.id, []).append(reference)
    print(
        "| task | rules | right, ms | characters | wrong, ms | score | checks | places |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    tasks = set()
    for instance in instances.values():
        if instance.task in tasks or instance.id not in answers:
            continue
        tasks.add(instance.task)
        stored = answers[instance.id]
        right = next(reference for reference in stored if reference.kind == "reference")
        assert isinstance(json.loads(right.answer), dict)  # noqa: S101
        turn(instance, fenced(stored[-1].answer), "checks")  # loads what is loaded once
        step, milliseconds, rules = turn(instance, fenced(right.answer), "checks")
        if not step.done:
            raise SystemExit(
                f"{instance.id}: the reference has not the full score: {step}"
            )
        wrong, observations, _ = wrong_turns(
            instance, [reference for reference in stored if reference is not right]
        )
        cells = [instance.task, rules, f"{milliseconds:.2f}", len(step.observation)]
        print(
            "|",
            " | ".join(map(str, [*cells, f"{wrong:.2f}", *observations])),
            "|",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
