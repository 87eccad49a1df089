"""The loop as an OpenEnv environment, served and called by OpenEnv in another process."""

import json

import pytest
from commands import python
from stored_replies import installed
from trials import SCRIPTS, played, scripts

PROGRAM = """
import asyncio, json, sys, threading, time, urllib.request
import uvicorn
from openenv.core.generic_client import GenericEnvClient
from scbench.integrations.openenv import app
from scbench.loop import Setup

setting, scripts, sessions = json.loads(sys.argv[1])
server = uvicorn.Server(uvicorn.Config(app(Setup(setting=setting), sessions=sessions), port=0,
                                       log_level="error"))
threading.Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.05)
port = server.servers[0].sockets[0].getsockname()[1]
base = f"http://127.0.0.1:{port}"

def posted(route, **body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(f"{base}/scbench/{route}", data,
                                     {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))

async def play(row_id, replies):
    async with GenericEnvClient(base_url=base, message_timeout_s=600) as client:
        steps = [(await client.reset(id=row_id)).observation["observation"]]
        await ready.wait()
        for reply in replies:
            result = await client.step({"reply": reply})
            steps.append((result.observation["observation"], result.reward, result.done))
            if result.done:
                break
        return row_id, steps, (await client.state())["prediction"]

async def main():
    global ready
    ready = asyncio.Barrier(sessions)  # all are open at the same time
    names = [*scripts]
    chosen = [names[i % len(names)] for i in range(sessions)]
    return await asyncio.gather(*(play(name, scripts[name]) for name in chosen))

done = asyncio.run(main())
first = posted("task", split="default", index=0)
print(json.dumps([done, posted("num_tasks", split="ladder"), first]))
"""


# Answers of `retry` are judged each time, which takes long.
SESSIONS = dict.fromkeys(SCRIPTS, 64) | {"retry": 16}

MISTAKES = """
import asyncio, json
from fastapi.testclient import TestClient
from scbench.integrations.openenv import app

client = TestClient(app(), raise_server_exceptions=False)
def answer(path, **body):
    response = client.post(path, json=body)
    return [response.status_code, str(response.json()["detail"])]
def reset(**fields):
    with client.websocket_connect("/ws") as session:
        session.send_json({"type": "reset", "data": fields})
        return session.receive_json()["data"]["message"]

print(json.dumps({
    "step": answer("/step", action={"reply": "x"}),
    "index": answer("/reset", index=-1),
    "split": answer("/reset", split="other"),
    "seeds": [reset(seed=seed) for seed in ("%0300d", 1.5, True)],
    "long": reset(split="a" * 10_000),
    "id": answer("/reset", id="two_segments/99"),
    "task": answer("/scbench/task", split="default", index=-1),
    "metadata": client.get("/metadata").json(),
}))
"""

LIMITS = """
import json, threading, time, urllib.error, urllib.request
import uvicorn
from scbench.integrations.openenv import app

server = uvicorn.Server(uvicorn.Config(app(sessions=2, idle_seconds=1), port=0))
threading.Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.05)
port = server.servers[0].sockets[0].getsockname()[1]

def posted(route, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{route}", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)

def create():
    call = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
    return "result" in posted("mcp", call)[1]

created = [create() for _ in range(3)]
for _ in range(60):
    time.sleep(1)
    if create():
        created.append(True)
        break
wrong = [
    posted("reset", {"split": "none"}), posted("reset", {"split": ["default"]}),
    posted("reset", {"id": "no_task/00"}), posted("reset", {"id": 5}),
    posted("reset", {"index": "x"}), posted("scbench/task", {"split": "none", "index": 0}),
    posted("scbench/num_tasks", {"split": "none"}), posted("reset", {"index": True}),
    posted("reset", {"index": -1}), posted("step", {"action": {"reply": "x"}}),
]
print(json.dumps([created, wrong]))
"""


@pytest.mark.parametrize("setting", SCRIPTS)
def test_many_sessions_play_like_a_plain_loop(setting, pytestconfig):
    sessions = SESSIONS[setting]
    folder = installed(pytestconfig.cache.mkdir("packages"), "openenv==0.10.0")
    output = python(
        PROGRAM, json.dumps([setting, scripts(setting), sessions]), PYTHONPATH=folder
    )
    trials, count, first = json.loads(output.splitlines()[-1])
    plain = played(setting)
    assert len(trials) == sessions
    assert {row_id for row_id, *_ in trials} == plain.keys()
    for row_id, steps, prediction in trials:
        turns = plain[row_id].turns
        assert [observation for observation, *_ in steps[1:]] == [
            one["observation"] for one in turns
        ]
        assert prediction == json.loads(json.dumps(plain[row_id].prediction()))
        ends = [over for *_, over in steps[1:]]
        assert ends == [False] * (len(turns) - 1) + [True]
        assert None not in [reward for _, reward, _ in steps[1:]]
    assert count["num_tasks"] > 10
    assert first["task"]["index"] == 0


def test_wrong_requests_are_answered_with_a_sentence(pytestconfig):
    folder = installed(pytestconfig.cache.mkdir("packages"), "openenv==0.10.0")
    output = python(MISTAKES, PYTHONPATH=folder)
    answers = json.loads(output.splitlines()[-1])
    status, words = answers["step"]
    assert status == 409
    assert "call reset first" in words
    status, words = answers["index"]
    assert status == 400
    assert "no index -1 in the split 'default', which has the indices 0 to" in words
    assert answers["split"][0] == answers["id"][0] == 400
    assert "no item 'two_segments/99'" in answers["id"][1]
    assert answers["task"] == [400, "Invalid task index"]
    assert answers["seeds"] == ["the seed is not an integer"] * 3
    assert len(answers["long"]) < 200
    assert answers["metadata"]["name"] == "scbench"


def test_idle_sessions_end_and_wrong_arguments_are_named(pytestconfig):
    folder = installed(pytestconfig.cache.mkdir("packages"), "openenv==0.10.0")
    output = python(LIMITS, PYTHONPATH=folder)
    created, wrong = json.loads(output.splitlines()[-1])
    assert created == [True, True, False, True]
    for code, body in wrong:
        assert code in (400, 409, 422), body
        assert "unhashable" not in str(body)
        assert body["detail"]
