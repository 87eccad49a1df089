import pytest

from scbench import pulse


@pytest.fixture(autouse=True)
def nobody_listens_afterwards():
    yield
    pulse.listen(None)


def test_a_beat_reaches_the_listener_and_nobody_else():
    heard = []
    assert pulse.beat(1, 2) is None
    pulse.listen(lambda done, total: heard.append((done, total)))
    assert pulse.beat(3, 4) is None
    pulse.listen(None)
    pulse.beat(5, 6)
    assert heard == [(3, 4)]
