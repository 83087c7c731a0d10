"""What the API fuzzer knows of hodl: who calls, and names that exist.

Every operation gets the credential its security scheme names. Half of the names in
paths and in sound bodies are ones that exist, because a random one only ever meets
404.
"""

import json
import os
import random
import threading
import time
import urllib.request

import schemathesis

BASE = os.environ["HODL_FUZZ_URL"]
KEPT = 4  # how many of each thing are there to be found
CHANCE = random.Random(os.environ.get("HODL_FUZZ_SEED"))  # the generator watches over the global one
AUDIENCE = "claude.anthropic.com"


def call(method, path, credential, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data=data, method=method)
    request.add_header("Authorization", "Bearer " + credential)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class World:
    """What exists: made when it is first asked for, and again when it went away. A
    thing is the path parameters that name it; a token has its text beside them."""

    def __init__(self, key):
        self.lock = threading.RLock()
        self.key = key
        self.me = call("GET", "/v1/me", key)
        self.things = {}

    def one(self, kind):
        with self.lock:
            things = self.things.setdefault(kind, [])
            while len(things) < KEPT:
                things.append(getattr(self, "make_" + kind)())
            return CHANCE.choice(things)

    def post(self, path, body):
        return call("POST", path, self.key, body)

    def make_sessions(self):
        node = {"id": "n1", "kind": "question", "text": "Why?"}
        tab = {"url": "https://example.com/", "title": "A page"}
        made = self.post("/v1/sessions", {"title": "A session", "tabs": [tab], "reasoning_thread": [node]})
        return {"id": made["session_id"], "fingerprint": made["fingerprint"]}

    def make_hodls(self):
        return {"id": self.post("/v1/hodls", {"url": "https://example.com/"})["id"]}

    def make_api_keys(self):
        return {"id": self.post("/v1/api_keys", {"name": "to be found"})["id"]}

    def make_audiences(self):
        return {"id": self.post("/v1/audiences", {"name": f"a{CHANCE.getrandbits(64)}.example.com"})["id"]}

    def make_members(self):
        return {"id": self.post("/v1/members", {"name": "to be found"})["user_id"]}

    def make_policies(self):
        name = f"policy-{len(self.things['policies'])}"
        call("PUT", "/v1/redaction_policies/" + name, self.key, {"extends": "balanced"})
        return {"name": name}

    def make_records(self):
        self.make_tokens()
        return {"id": call("GET", "/v1/access_records?limit=1", self.key)["access_records"][0]["id"]}

    def make_workspaces(self):
        """The one that the key opens. What was made stands in its log."""
        tile = CHANCE.choice(("0/000.p/1", "entries/000.p/1", "0/000", "entries/000", "1/000.p/1"))
        return {"id": self.me["workspace_id"], "tile": tile}

    def make_tokens(self):
        bounds = {"max_ttl_seconds": 86400, "max_hydrations": 1000, "hydrations_an_hour": 0}  # a call may have lowered them
        call("PATCH", "/v1/workspaces/" + self.me["workspace_id"], self.key, bounds)
        session = self.make_sessions()["id"]
        scopes = ["read:context", "read:reasoning", "read:transcript", "write:notes", "write:next_step", "session:hand_off"]
        draft = {"session_id": session, "audience": AUDIENCE, "scopes": scopes, "max_hydrations": 1000, "ttl_seconds": 86400}
        minted = self.post("/v1/resume_tokens", draft)
        return {"jti": minted["jti"], "session": session, "text": minted["token"]}

    def forget(self, text):
        """Drops what has a name in the path, or the credential, of a call that ended it."""
        with self.lock:
            for kind, things in self.things.items():
                self.things[kind] = [t for t in things if not any(name in text for name in t.values())]

    def own(self, path):
        """Reports whether path names the caller itself, which must outlive the run."""
        return any(str(v) in path for v in self.me.values() if isinstance(v, str) and "_" in v)


WORLD = World(os.environ["HODL_FUZZ_KEY"])

# What a path is about, by its second part.
KINDS = {
    "sessions": "sessions",
    "hodls": "hodls",
    "api_keys": "api_keys",
    "resume_tokens": "tokens",
    "audiences": "audiences",
    "members": "members",
    "redaction_policies": "policies",
    "access_records": "records",
    "workspaces": "workspaces",
}


def takes_token(operation):
    return any("resumeToken" in scheme for scheme in operation.definition.raw.get("security", []))


@schemathesis.auth(refresh_interval=None)
class Credential:
    def get(self, case, context):
        return WORLD.one("tokens") if takes_token(case.operation) else {"text": WORLD.key}

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = "Bearer " + data["text"]
        if "session" in data and CHANCE.random() < 0.7 and "id" in case.path_parameters:
            case.path_parameters["id"] = data["session"]  # a token opens no other


@schemathesis.hook
def before_call(context, case, kwargs):
    name_path(case)
    if case.meta is None or case.meta.generation.mode.is_positive:
        name_body(case)
        if case.path.endswith("/handoff") and CHANCE.random() < 0.5:
            case.headers["X-Unihodl-StepUp"] = str(int(time.time()))


def name_path(case):
    if not case.path_parameters or takes_token(case.operation):
        return
    kind = KINDS.get(case.path.split("/")[2])
    own = WORLD.own(case.formatted_path) and kind != "workspaces"
    if kind and (own or CHANCE.random() < 0.5):
        thing = WORLD.one(kind)
        case.path_parameters.update({name: thing[name] for name in case.path_parameters if name in thing})


def name_body(case):
    """Names in a body that the document allows what there is."""
    if not isinstance(case.body, dict) or CHANCE.random() < 0.5:
        return
    if isinstance(case.body.get("session_id"), str):
        case.body["session_id"] = WORLD.one("sessions")["id"]
    if isinstance(case.body.get("audience"), str):
        case.body["audience"] = AUDIENCE
    if isinstance(case.body.get("token"), str):
        case.body["token"] = WORLD.one("tokens")["text"]


@schemathesis.hook
def after_call(context, case, response):
    ends = case.method == "DELETE" or case.path.endswith(("/archive", "/revoke", "/erase"))
    used_up = takes_token(case.operation) and response.status_code in (403, 409, 429)
    if used_up or ends and response.status_code == 200:
        WORLD.forget(case.formatted_path + " " + case.headers["Authorization"])
