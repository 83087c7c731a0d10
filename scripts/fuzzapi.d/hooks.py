"""What the API fuzzer knows of hodl: who calls, and ids that exist.

Every operation gets the credential its security scheme names. Half of the ids in
paths are ones that exist, because a random id only ever meets 404.
"""

import json
import os
import random
import threading
import urllib.request

import schemathesis

BASE = os.environ["HODL_FUZZ_URL"]
KEPT = 4  # how many of each thing are there to be found


def call(method, path, credential, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data=data, method=method)
    request.add_header("Authorization", "Bearer " + credential)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class World:
    """What exists: made when it is first asked for, and again when it went away."""

    def __init__(self, key):
        self.lock = threading.RLock()
        self.key = key
        self.me = call("GET", "/v1/me", key)
        self.things = {"sessions": [], "hodls": [], "tokens": [], "api_keys": []}

    def one(self, kind):
        """Returns one of the things of a kind; a token is (session, jti, token)."""
        with self.lock:
            while len(self.things[kind]) < KEPT:
                self.things[kind].append(getattr(self, "make_" + kind)())
            return random.choice(self.things[kind])

    def make_sessions(self):
        node = {"id": "n1", "kind": "question", "text": "Why?"}
        tab = {"url": "https://example.com/", "title": "A page"}
        return call("POST", "/v1/sessions", self.key, {"title": "A session", "tabs": [tab], "reasoning_thread": [node]})["session_id"]

    def make_hodls(self):
        return call("POST", "/v1/hodls", self.key, {"url": "https://example.com/"})["id"]

    def make_api_keys(self):
        return call("POST", "/v1/api_keys", self.key, {"name": "to be found"})["id"]

    def make_tokens(self):
        session = self.make_sessions()
        scopes = ["read:context", "read:reasoning", "read:transcript", "write:notes", "write:next_step", "session:hand_off"]
        draft = {"session_id": session, "audience": "claude.anthropic.com", "scopes": scopes, "max_hydrations": 1000, "ttl_seconds": 86400}
        minted = call("POST", "/v1/resume_tokens", self.key, draft)
        return session, minted["jti"], minted["token"]

    def forget(self, path):
        """Drops what a call to path has ended."""
        with self.lock:
            for kind, things in self.things.items():
                self.things[kind] = [t for t in things if not any(i in path for i in ([t] if isinstance(t, str) else t[:2]))]

    def own(self, path):
        """Reports whether path names the caller itself, which must outlive the run."""
        return any(str(v) in path for v in self.me.values() if isinstance(v, str) and "_" in v)


WORLD = World(os.environ["HODL_FUZZ_KEY"])

# The path parameter to fill, by the path before it.
KINDS = {"/v1/sessions/": "sessions", "/v1/hodls/": "hodls", "/v1/api_keys/": "api_keys", "/v1/resume_tokens/": "tokens"}


def takes_token(operation):
    return any("resumeToken" in scheme for scheme in operation.definition.raw.get("security", []))


@schemathesis.auth(refresh_interval=None)
class Credential:
    def get(self, case, context):
        return WORLD.one("tokens") if takes_token(case.operation) else (None, None, WORLD.key)

    def set(self, case, data, context):
        session, _, credential = data
        case.headers = case.headers or {}
        case.headers["Authorization"] = "Bearer " + credential
        if session and random.random() < 0.7 and "id" in case.path_parameters:
            case.path_parameters["id"] = session  # a token opens no other


@schemathesis.hook
def before_call(context, case, kwargs):
    if not case.path_parameters or takes_token(case.operation):
        return
    for prefix, kind in KINDS.items():
        name = "jti" if kind == "tokens" else "id"
        if case.path.startswith(prefix + "{" + name) and (random.random() < 0.5 or WORLD.own(case.formatted_path)):
            thing = WORLD.one(kind)
            case.path_parameters[name] = thing if isinstance(thing, str) else thing[1]


@schemathesis.hook
def after_call(context, case, response):
    ends = case.method == "DELETE" or case.path.endswith(("/archive", "/revoke"))
    used_up = takes_token(case.operation) and response.status_code in (403, 409, 429)
    if used_up or ends and response.status_code == 200:
        WORLD.forget(case.formatted_path)
