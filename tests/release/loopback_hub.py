"""A small Hub on this machine: the part of the protocol that the real clients speak.

Written from what ``huggingface_hub`` and ``datasets`` send. Holds data set repositories in memory:
commits are whole file lists, branches and tags point at commits. Parquet files go by LFS, all
others in the commit itself. Faults can be planted, see `Hub.fail`.
"""

import base64
import hashlib
import json
import re
import socket
import struct
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

WRITER, READER = "hf_writer", "hf_reader"


@dataclass
class Repo:
    commits: dict = field(default_factory=dict)
    branches: dict = field(default_factory=dict)
    tags: dict = field(default_factory=dict)
    messages: list = field(default_factory=list)

    def commit(self, files: dict, message: str) -> str:
        sha = hashlib.sha1(
            f"{len(self.commits)} {message}".encode(), usedforsecurity=False
        ).hexdigest()
        self.commits[sha] = files
        self.branches["main"] = sha
        self.messages.append(message)
        return sha

    def resolve(self, revision: str) -> str | None:
        known = {**{sha: sha for sha in self.commits}, **self.branches, **self.tags}
        return known.get(revision)


@dataclass
class Fault:
    method: str
    path: str
    how: object
    times: int


class Hub:
    """The server's state, and handles for tests.

    Attributes:
        repos: by id.
        objects: LFS objects by SHA-256.
        log: "METHOD path" of every request.
        url: of the Hub.
        store_url: of the host that keeps large files; another one, as in the real Hub.
    """

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.log: list[str] = []
        self.faults: list[Fault] = []
        self.lock = threading.RLock()
        self.url = self.store_url = ""

    def add_repo(self, repo_id: str) -> Repo:
        repo = self.repos[repo_id] = Repo()
        repo.commit({".gitattributes": b"*.parquet filter=lfs\n"}, "initial commit")
        return repo

    def fail(self, method: str, path: str, how: object, times: int = 1) -> None:
        """Plant a fault.

        Args:
            method: of the requests that fail.
            path: a regular expression that is searched for in their path.
            how: a status; "drop" (no answer), or "do and drop" (done, but no answer).
            times: how many requests fail; those after succeed.
        """
        self.faults.append(Fault(method, path, how, times))

    def due(self, method: str, path: str) -> object:
        for fault in self.faults:
            if fault.times and fault.method == method and re.search(fault.path, path):
                fault.times -= 1
                return fault.how
        return None

    def count(self, method: str, path: str) -> int:
        return sum(bool(re.search(f"^{method} .*{path}", line)) for line in self.log)


class RefusedError(Exception):
    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


def git_hash(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def is_lfs(path: str) -> bool:
    return path.endswith(".parquet")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.serve()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815

    def serve(self) -> None:
        parts = urlsplit(self.path)
        self.query = parse_qs(parts.query)
        path = parts.path
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length) if length else self.chunks()
        with self.hub.lock:
            self.hub.log.append(f"{self.command} {path}")
            how = self.hub.due(self.command, path)
            if how == "drop":
                self.drop()
                return
            try:
                status, headers, data = self.route(path, how)
            except RefusedError as error:
                status, data = error.status, json.dumps({"error": error.message}).encode()
                headers = {"X-Error-Message": error.message, "Content-Type": "application/json"}
                headers |= {"X-Error-Code": error.code} if error.code else {}
        if how == "do and drop":
            self.drop()
            return
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def chunks(self) -> bytes:
        data = b""
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return data

    def drop(self) -> None:
        self.close_connection = True
        # With this, closing sends a reset: the client sees its connection break.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    # Who may do what.

    def may(self, what: str) -> None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token and token not in {WRITER, READER}:
            raise RefusedError(401, "Invalid credentials in Authorization header")
        if what == "know" and not token:
            raise RefusedError(401, "Invalid username or password.")
        if what == "write" and token != WRITER:
            raise RefusedError(403, "You don't have the rights to write here", "")

    def repo(self, repo_id: str) -> Repo:
        if repo_id not in self.hub.repos:
            raise RefusedError(404, "Repository not found", "RepoNotFound")
        return self.hub.repos[repo_id]

    def files(self, repo_id: str, revision: str) -> tuple[str, dict]:
        repo = self.repo(repo_id)
        sha = repo.resolve(unquote(revision))
        if sha is None:
            raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return sha, repo.commits[sha]

    # What there is to do.

    def route(self, path: str, planted: object):
        if isinstance(planted, int):
            raise RefusedError(planted, "planted")
        for method, pattern, name in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and self.command in method.split("|"):
                value = getattr(self, name)(*map(unquote, match.groups()))
                if isinstance(value, tuple):
                    return value
                return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()
        raise RefusedError(404, f"no such page: {path}")

    def whoami(self):
        self.may("know")
        return {"type": "user", "name": "tester", "orgs": [{"name": "org"}]}

    def validate_yaml(self):
        text = json.loads(self.body)["content"]
        assert text.startswith("---\n")
        return {"errors": [], "warnings": []}

    def create(self):
        self.may("write")
        asked = json.loads(self.body)
        assert asked["type"] == "dataset"
        repo_id = f"{asked['organization']}/{asked['name']}"
        if repo_id in self.hub.repos:
            raise RefusedError(409, "You already created this dataset repo")
        self.hub.add_repo(repo_id)
        return {"url": f"{self.hub.url}/datasets/{repo_id}", "name": repo_id}

    def info(self, repo_id: str, revision: str = "main"):
        self.may("read")
        sha, files = self.files(repo_id, revision)
        return {
            "_id": "1", "id": repo_id, "sha": sha, "private": False, "tags": [], "downloads": 0,
            "likes": 0, "siblings": [{"rfilename": name} for name in files],
        }  # fmt: skip

    def refs(self, repo_id: str):
        self.may("read")
        repo = self.repo(repo_id)
        return {
            "branches": [
                {"name": name, "ref": f"refs/heads/{name}", "targetCommit": sha}
                for name, sha in repo.branches.items()
            ],
            "tags": [
                {"name": name, "ref": f"refs/tags/{name}", "targetCommit": sha}
                for name, sha in repo.tags.items()
            ],
            "converts": [],
        }

    @staticmethod
    def entry(name: str, data: bytes) -> dict:
        if not is_lfs(name):
            return {"type": "file", "path": name, "size": len(data), "oid": git_hash(data)}
        oid = hashlib.sha256(data).hexdigest()
        pointer = (
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"
        )
        lfs = {"oid": oid, "size": len(data), "pointerSize": len(pointer)}
        return {
            "type": "file", "path": name, "size": len(data), "oid": git_hash(pointer.encode()),
            "lfs": lfs,
        }  # fmt: skip

    def tree(self, repo_id: str, revision: str, folder: str = ""):
        self.may("read")
        _, files = self.files(repo_id, revision)
        base = f"{folder}/" if folder else ""
        inside = {name: data for name, data in files.items() if name.startswith(base)}
        if folder and not inside:
            raise RefusedError(404, f"{folder} does not exist", "EntryNotFound")
        deep = self.query.get("recursive", ["false"])[0].lower() in {"true", "1"}
        found = [
            self.entry(name, data)
            for name, data in inside.items()
            if deep or "/" not in name.removeprefix(base)
        ]
        folders = {
            base + "/".join(rest[:n])
            for name in inside
            if (rest := name.removeprefix(base).split("/"))
            for n in range(1, len(rest) if deep else min(len(rest), 2))
        }
        return [
            *({"type": "directory", "path": name, "size": 0, "oid": "0" * 40} for name in folders),
            *found,
        ]

    def paths_info(self, repo_id: str, revision: str):
        self.may("read")
        _, files = self.files(repo_id, revision)
        if "json" in (self.headers.get("Content-Type") or ""):
            asked = json.loads(self.body)["paths"]
        else:
            asked = parse_qs(self.body.decode())["paths"]
        return [
            self.entry(name, files[name])
            if name in files
            else {"type": "directory", "path": name, "size": 0, "oid": "0" * 40}
            for name in asked
            if name in files or any(path.startswith(f"{name}/") for path in files)
        ]

    def preupload(self, repo_id: str, revision: str):
        self.may("write")
        _, files = self.files(repo_id, revision)
        answers = []
        for asked in json.loads(self.body)["files"]:
            name = asked["path"]
            base64.b64decode(asked["sample"], validate=True)
            answers.append(
                {
                    "path": name,
                    "uploadMode": "lfs" if is_lfs(name) else "regular",
                    "shouldIgnore": False,
                }
            )
            if name in files:
                entry = self.entry(name, files[name])
                answers[-1]["oid"] = entry["lfs"]["oid"] if is_lfs(name) else entry["oid"]
        return {"files": answers}

    def batch(self, repo_id: str):
        self.may("write")
        self.repo(repo_id)
        asked = json.loads(self.body)
        assert asked["operation"] == "upload"
        assert asked["hash_algo"] == "sha256"
        objects = []
        for part in asked["objects"]:
            objects.append({"oid": part["oid"], "size": part["size"]})
            if part["oid"] not in self.hub.objects:
                objects[-1]["actions"] = {
                    "upload": {"href": f"{self.hub.store_url}/store/{part['oid']}"},
                    "verify": {"href": f"{self.hub.url}/check/{repo_id}"},
                }
        return {"transfer": "basic", "objects": objects}

    def store(self, oid: str):
        assert "Authorization" not in self.headers, "a token left the Hub"
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise RefusedError(400, "not what was announced")
        self.hub.objects[oid] = self.body
        return {}

    def check(self, _: str):
        asked = json.loads(self.body)
        if len(self.hub.objects[asked["oid"]]) != asked["size"]:
            raise RefusedError(400, "another size")
        return {}

    def commit(self, repo_id: str, revision: str):
        self.may("write")
        sha, before = self.files(repo_id, revision)
        files, header = dict(before), {}
        for line in self.body.splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                header = value
            elif item["key"] == "file":
                assert not is_lfs(value["path"])
                files[value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                if value["oid"] not in self.hub.objects:
                    raise RefusedError(400, f"LFS object {value['oid']} is not there")
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif item["key"] == "deletedFile":
                del files[value["path"]]
        if header.get("parentCommit", sha) != sha:
            raise RefusedError(412, "A commit has happened since. Please refresh and try again.")
        new = self.hub.repos[repo_id].commit(files, header["summary"])
        url = f"{self.hub.url}/datasets/{repo_id}/commit/{new}"
        return {"success": True, "commitOid": new, "commitUrl": url, "hookOutput": ""}

    def tag(self, repo_id: str, revision: str):
        self.may("write")
        sha, _ = self.files(repo_id, revision)
        tags = self.hub.repos[repo_id].tags
        name = json.loads(self.body)["tag"]
        if name in tags:
            raise RefusedError(409, f"Tag reference exists already: {name}")
        tags[name] = sha
        return {}

    def resolve(self, repo_id: str, revision: str, name: str):
        self.may("read")
        sha, files = self.files(repo_id, revision)
        if name not in files:
            raise RefusedError(404, "Entry not found", "EntryNotFound")
        data, head = files[name], {"X-Repo-Commit": sha, "Accept-Ranges": "bytes"}
        if is_lfs(name):
            oid = hashlib.sha256(data).hexdigest()
            head |= {"X-Linked-Etag": f'"{oid}"', "X-Linked-Size": str(len(data))}
            # The real one hands large files to another host, by a redirect.
            return 302, head | {"Location": f"{self.hub.store_url}/objects/{oid}"}, b""
        return self.ranged(data, head | {"ETag": f'"{git_hash(data)}"'})

    def object(self, oid: str):
        assert "Authorization" not in self.headers, "a token left the Hub"
        return self.ranged(self.hub.objects[oid], {"ETag": f'"{oid}"'})

    def ranged(self, data: bytes, head: dict):
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked and int(asked[1]) < len(data):
            start, stop = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
            head = head | {"Content-Range": f"bytes {start}-{stop}/{len(data)}"}
            return 206, head, data[start : stop + 1]
        # HEAD answers with the size, too.
        return 200, head | {"Content-Length": str(len(data))}, data


ID = r"([\w.-]+/[\w.-]+)"
ROUTES = [
    ("GET", "/api/whoami-v2", "whoami"),
    ("POST", "/api/validate-yaml", "validate_yaml"),
    ("POST", "/api/repos/create", "create"),
    ("GET", f"/api/datasets/{ID}", "info"),
    ("GET", f"/api/datasets/{ID}/revision/([^/]+)", "info"),
    ("GET", f"/api/datasets/{ID}/refs", "refs"),
    ("GET", f"/api/datasets/{ID}/tree/([^/]+)", "tree"),
    ("GET", f"/api/datasets/{ID}/tree/([^/]+)/(.+)", "tree"),
    ("POST", f"/api/datasets/{ID}/paths-info/([^/]+)", "paths_info"),
    ("POST", f"/api/datasets/{ID}/preupload/([^/]+)", "preupload"),
    ("POST", f"/api/datasets/{ID}/commit/([^/]+)", "commit"),
    ("POST", f"/api/datasets/{ID}/tag/([^/]+)", "tag"),
    ("POST", rf"/datasets/{ID}\.git/info/lfs/objects/batch", "batch"),
    ("PUT", "/store/(.+)", "store"),
    ("POST", "/check/(.+)", "check"),
    ("GET|HEAD", f"/datasets/{ID}/resolve/([^/]+)/(.+)", "resolve"),
    ("GET|HEAD", "/objects/(.+)", "object"),
]


@contextmanager
def running_hub():
    """Yield a Hub that listens on the loopback device until the block ends."""
    hub = Hub()
    handler = type("OneHub", (Handler,), {"hub": hub})
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
    hub.url, hub.store_url = (f"http://127.0.0.1:{one.server_address[1]}" for one in servers)
    threads = [
        threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
        for one in servers
    ]
    for one, thread in zip(servers, threads, strict=True):
        one.daemon_threads = True
        thread.start()
    try:
        yield hub
    finally:
        for one, thread in zip(servers, threads, strict=True):
            one.shutdown()
            thread.join()
            one.server_close()
