"""Play trials of the loop's environment by players that only use what they are told.

`python tools/play_trials.py fluid_simulation probe` plays every instance of the newest release, and
says of each what it took; `... terrain_levelling act ladder-03` those of its ladder whose ids hold
this text.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "fixtures"))

from loop_simulation import trial

from scbench.release.load import find_release


def main(task: str, setting: str, only: str = "") -> None:
    """Play the instances of a task whose ids hold a text."""
    release = find_release()
    if only.startswith("ladder"):
        release = release.ladder()
    for name, instance in release.instances([task]).items():
        if only in name:
            start = time.perf_counter()
            _, info, longest = trial(instance, setting)
            seconds = time.perf_counter() - start
            print(
                f"{name}: score {info['score']:g}, {info['turn']} turns, cost {info['used']}, "
                f"longest observation {longest} characters, {seconds:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
