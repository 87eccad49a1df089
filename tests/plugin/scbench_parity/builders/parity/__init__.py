"""Makes bit strings."""

from collections.abc import Mapping

from pydantic import Field, JsonValue
from scbench_parity.schemas.parity import Answer, Params

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, reply_as


class Space(Point):
    """The length of the strings."""

    length: int = Field(default=64, ge=1, le=1000, description="number of bits")


class TaskBuilder(Builder[Params, Answer, Space]):
    """Bit strings."""

    task = "parity"
    version = 1
    params_model = Params
    answer_model = Answer
    space = Space

    def prompt(self, params: Params) -> str:
        """Ask for the parity."""
        return (
            f"Is the number of ones in {params.bits} even (0) or odd (1)?\n"
            + reply_as('{"bit": b, "mood": ""}')
        )

    def reference(self, params: Params) -> Answer:
        """Count the ones."""
        return Answer(bit=params.bits.count("1") % 2)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the other bit, no bit, and both."""
        other = 1 - params.bits.count("1") % 2
        return {
            "other": {"bit": other},
            "neither": {"bit": 2},
            "boolean": {"bit": bool(1 - other)},
        }

    def blind_floor(self, params: Params) -> float:  # noqa: ARG002
        """Return one half."""
        return 0.5

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw bits."""
        return Params(bits="".join(str(rng.below(2)) for _ in range(point.length)))
