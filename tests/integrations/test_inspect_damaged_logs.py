"""A `scbench run` folder with a damaged log is refused in one sentence."""

import os

import pytest
from inspect_model import NEEDS_INSPECT
from later import Later

from scbench.base.errors import ResultsError

pytestmark = NEEDS_INSPECT
written = Later("written_logs")


def cut(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


FAULTS = {
    "cut": cut,
    "empty": lambda path: path.write_bytes(b""),
    "a pipe": pipe,
    "a folder": folder,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_damaged_log_is_named(tmp_path, fault):
    from scbench.integrations.inspect.play import check_logs  # noqa: PLC0415  (an extra)

    path = written.write_log(tmp_path / "log.eval", written.SAMPLES[:1])
    check_logs(tmp_path)
    FAULTS[fault](path)
    with pytest.raises(ResultsError) as caught:
        check_logs(tmp_path)
    assert str(caught.value).startswith(f"{path} is damaged (")
    assert str(caught.value).endswith(
        "move it elsewhere, and its prompts will be sent again"
    )


def test_link_among_the_logs_is_refused(tmp_path):
    from scbench.integrations.inspect.play import check_logs  # noqa: PLC0415  (an extra)

    victim = tmp_path / "victim"
    victim.write_text("years of work")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "eval-set.json").symlink_to(victim)
    with pytest.raises(ResultsError, match=r"eval-set\.json is a link"):
        check_logs(logs)
