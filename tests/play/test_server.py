"""The server of the page: its answers and its refusals."""

import asyncio
import json
import time

import pytest
from starlette.testclient import TestClient

from scbench.grading.workers.live import LiveGrader
from scbench.play.items import Items, first_item, item_json
from scbench.play.server import Opening, ServerState, create_app, new_token
from scbench.play.study import Study
from scbench.release.load import find_release

PREFIX = "word"
ITEM = "two_segments/07"
RIGHT = {"segments": [[[0, 0], [1, 0.2]], [[1, 0.4], [0, 0.8]]]}


@pytest.fixture(scope="module")
def grader():
    live = LiveGrader(1)
    yield live
    live.close()


@pytest.fixture
def items():
    return Items(find_release())


@pytest.fixture
def client(grader, items):
    app = create_app(ServerState(items, Opening(ITEM), grader), PREFIX)
    return TestClient(app, base_url="http://127.0.0.1")


def path(name):
    return f"/{PREFIX}/{name}"


def checked(client, body):
    number = client.post(path("api/checks"), json=body).json()["check"]
    state = {"done": False}
    while not state["done"]:
        state = client.get(path(f"api/checks/{number}")).json()
    return state["result"]


def test_item_has_the_data_of_its_prompt_and_no_answer(client, items):
    item = client.get(path("api/item"), params={"id": ITEM}).json()
    instance = items.instance(ITEM)
    assert item["prompt"] == instance.prompt
    assert item["params"] == instance.params
    assert "unprinted" not in item
    assert item["picture"]["views"][0]["svg"].startswith("<svg")


def test_answer_is_judged_with_its_checks_and_picture(client):
    right = checked(client, {"id": ITEM, "answer": RIGHT})
    assert right["score"] == 1
    assert all(check["passed"] for check in right["verdicts"][0]["checks"])
    wrong = checked(client, {"id": ITEM, "answer": {"segments": RIGHT["segments"][:1]}})
    assert wrong["score"] == 0
    assert not all(check["passed"] for check in wrong["verdicts"][0]["checks"])


def test_picture_of_an_answer_follows_its_verdict(client):
    body = {"id": ITEM, "answer": {"segments": RIGHT["segments"][:1]}}
    number = client.post(path("api/checks"), json=body).json()["check"]
    while not client.get(path(f"api/checks/{number}")).json()["done"]:
        pass
    answered = client.get(path(f"api/checks/{number}/picture")).json()
    unanswered = client.get(path(f"api/item?id={ITEM}")).json()["picture"]
    assert answered["views"]
    assert answered["views"] != unanswered["views"]


def test_reply_shows_the_extracted_answer(client):
    reply = f"I would cut it so:\n```json\n{json.dumps(RIGHT)}\n```"
    result = checked(client, {"id": ITEM, "reply": reply})
    assert result["answer"] == RIGHT
    assert result["source"]
    nothing = checked(client, {"id": ITEM, "reply": "The answer is a picture."})
    assert nothing["status"] == "unparsed"
    assert nothing["answer"] is None


def test_judging_can_be_stopped(grader, items):
    state = ServerState(items, Opening(ITEM), grader)
    client = TestClient(create_app(state, PREFIX), base_url="http://127.0.0.1")
    grader.run(time.sleep, 0)
    hanging = grader._call(True, 600, time.sleep, 600)
    number = state.start_check(ITEM, lambda: hanging)
    state = client.get(path(f"api/checks/{number}")).json()
    assert not state["done"]
    assert client.delete(path(f"api/checks/{number}")).status_code == 200
    assert hanging.cancelled()
    assert client.get(path(f"api/checks/{number}")).status_code == 410
    assert checked(client, {"id": ITEM, "answer": RIGHT})["score"] == 1


def test_fresh_items_are_new_and_always_the_same(client, items):
    drawn = client.post(path("api/fresh"), json={"task": "two_segments", "rung": 2})
    item = drawn.json()
    assert item["id"] not in items.of_task("two_segments").rungs[2]
    again = Items(find_release()).draw("two_segments", 2)
    assert item_json(again)["params"] == item["params"]


@pytest.mark.parametrize(
    ("method", "place", "body", "status"),
    [
        ("GET", "/", None, 404),
        ("GET", "/other/api/start", None, 404),
        ("GET", path("assets/../server.py"), None, 404),
        ("GET", path("assets/none.js"), None, 404),
        ("GET", path("api/item?id=two_segments/99"), None, 400),
        ("GET", path("api/item?id=nothing"), None, 400),
        ("GET", path("api/checks/99"), None, 404),
        ("GET", path(f"api/checks/{'9' * 5000}"), None, 404),
        ("DELETE", path("api/checks/-1"), None, 404),
        ("GET", path("api/study"), None, 404),
        ("POST", path("api/checks"), b"[", 400),
        ("POST", path("api/checks"), b"[1]", 400),
        ("POST", path("api/checks"), b"[" * 100_000, 400),
        ("POST", path("api/checks"), b'{"id": 3}', 400),
        (
            "POST",
            path("api/checks"),
            b'{"id": "%s", "answer": NaN}' % ITEM.encode(),
            400,
        ),
        ("POST", path("api/checks"), b'{"id": "\\ud800", "answer": 1}', 400),
        ("POST", path("api/fresh"), b'{"task": "two_segments", "rung": "1"}', 400),
        ("POST", path("api/fresh"), b'{"task": "two_segments", "rung": 99}', 400),
        ("POST", path("api/checks"), b" " * 20_000_001, 413),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(client, method, place, body, status):
    response = client.request(method, place, content=body)
    assert response.status_code == status
    assert place == "/" or "problem" in response.json()


def test_incomplete_request_is_refused_in_a_sentence(grader, items):
    app = create_app(ServerState(items, Opening(ITEM), grader), PREFIX)
    parts = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = []

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    place = path("api/checks")
    scope = {
        "type": "http",
        "method": "POST",
        "path": place,
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 400


def test_only_requests_from_this_machine_by_its_name_are_answered(client):
    response = client.get(path("api/start"), headers={"host": "evil.example"})
    assert response.status_code == 400


def test_pages_load_nothing_from_elsewhere(client):
    page = client.get(path(""))
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")
    assert (
        client.get(path("assets/play.js"))
        .headers["content-type"]
        .startswith("text/javascript")
    )


def test_measurement_shows_only_its_own_items(grader, items, tmp_path):
    instances = [items.instance(ITEM)]
    study = Study(instances, "p01", 60, tmp_path / "out.jsonl")
    app = create_app(ServerState(items, Opening(""), grader, study), PREFIX)
    client = TestClient(app, base_url="http://127.0.0.1")
    refused = client.post(path("api/checks"), json={"id": ITEM, "answer": RIGHT})
    assert refused.status_code == 403
    step = client.get(path("api/study")).json()
    assert step["item"]["id"] == ITEM
    assert step["picture"]["views"] == []
    body = {"id": ITEM, "answer": RIGHT, "seconds": 10**400}
    assert client.post(path("api/study"), json=body).status_code == 400
    body["seconds"] = 12.5
    assert client.post(path("api/study"), json=body).status_code == 200
    assert client.post(path("api/study"), json=body).status_code == 400
    assert "item" not in client.get(path("api/study")).json()
    (line,) = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["answer"] == RIGHT


def test_tokens_differ_and_targets_are_found(items):
    assert new_token() != new_token()
    assert first_item(items, "csg_union") == "csg_union/ladder-01-1"
    assert first_item(items, "ladder:3").endswith("ladder-03-1")
    assert first_item(items, ITEM) == ITEM
