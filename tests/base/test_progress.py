import pytest

from scbench.base import progress


@pytest.fixture(autouse=True)
def nobody_listens_afterwards():
    yield
    progress.listen(None)


def test_beat_reaches_only_the_listener():
    heard = []
    assert progress.beat(1, 2) is None
    progress.listen(lambda done, total: heard.append((done, total)))
    assert progress.beat(3, 4) is None
    progress.listen(None)
    progress.beat(5, 6)
    assert heard == [(3, 4)]
