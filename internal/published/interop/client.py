"""Has the published Python client, as it comes from PyPI, do all it can against a server.

    client.py URL KEY

The key is a live one. What the client tells is held against what a user of it expects;
the first thing that is otherwise ends the run.
"""

import sys
import time

from unihodl_agent import Client
from unihodl_agent.client import UnihodlError

SESSION = "ses_8f3aZ91c"


def main(url, key):
    with Client(api_key=key, base_url=url + "/api/") as hodl:
        captured(hodl)
        hydrated(hodl)
        token = minted(hodl)
        written(hodl, token)
        revoked(hodl, token)
        handed_off(hodl)
    print(f"published: unihodl-agent did all it can: {checks} things held")


checks = 0


def expect(got, wanted):
    global checks
    checks += 1
    if got != wanted:
        sys.exit(f"check {checks}: {got!r} instead of {wanted!r}")


def refused(code, status, call):
    try:
        sys.exit(f"{code}: answered {call()!r}")
    except UnihodlError as e:
        expect((e.code, e.status), (code, status))
        expect(bool(str(e)) and bool(e.hint), True)


def captured(hodl):
    for _ in range(2):  # the same again is the same version
        answer = hodl.sessions.capture(
            session_id=SESSION,
            title="GraphQL",
            summary="ask ada@example.org",
            tabs=[{"url": "https://a.example/x?token=" + "abcd1234" + "efgh5678", "title": "t", "scroll_y_pct": 0.4, "selected_text": "sel", "tab_role": "reference"}],
            media=[{"kind": "video", "url": "https://v.example/1", "timestamp_s": 73}],
            reasoning_thread=[
                {"id": "n1", "kind": "partial_conclusion", "text": "x", "confidence": 0.8},
                {"id": "n2", "kind": "decision_stance", "text": "lean", "depends_on": ["n1"]},
            ],
            ai_tags=["a"],
        )
        expect(set(answer), {"session_id", "fingerprint", "captured_at"})
    head = hodl.sessions.get(SESSION)
    expect((head["title"], head["ai_tags"], head["total_hydrations"]), ("GraphQL", ["a"], 0))


def hydrated(hodl):
    raw = hodl.sessions.hydrate(SESSION).raw
    expect((raw.session_id, raw.version, raw.title, raw.ai_tags), (SESSION, "1.0", "GraphQL", ["a"]))
    expect(raw.summary, "ask [EMAIL_1]")
    expect((raw.tabs[0].scroll_y_pct, raw.tabs[0].selected_text, raw.tabs[0].tab_role), (0.4, "sel", "reference"))
    expect(raw.tabs[0].url, "https://a.example/x?token=__TOKEN_1__")
    expect((raw.media[0].kind, raw.media[0].timestamp_s), ("video", 73))
    expect([(n.id, n.confidence, n.depends_on) for n in raw.reasoning_thread], [("n1", 0.8, None), ("n2", None, ["n1"])])
    expect({(r["field"], r["reason"]) for r in raw.redactions}, {("summary", "an email address"), ("tabs[0].url", "the value of a token")})
    text = hodl.sessions.hydrate(SESSION, format="prompt-ready").raw.summary
    expect(("[EMAIL_1]" in text, "ada@" in text), (True, False))
    expect(hodl.sessions.get(SESSION)["total_hydrations"], 2)


def minted(hodl):
    token = hodl.resume_tokens.create(
        session_id=SESSION, audience="claude.anthropic.com", scopes=["read:context", "write:notes"], ttl_seconds=300, max_hydrations=2, redaction_policy="default-strict"
    )
    expect(set(token), {"token", "jti", "expires_at", "audience", "scopes", "session_id", "mode"})
    expect(token["mode"], "live")
    return token


def written(hodl, token):
    expect(hodl.sessions.append_note(SESSION, "a note", token=token["token"])["note_id"], 1)
    refused("insufficient_scope", 403, lambda: hodl.sessions.append_note(SESSION, "x", token=hodl.resume_tokens.create(session_id=SESSION, audience="claude.anthropic.com", scopes=["read:context"])["token"]))


def revoked(hodl, token):
    expect(hodl.resume_tokens.revoke(token["jti"]), {"revoked": True, "jti": token["jti"], "reason": None})
    expect(hodl.resume_tokens.revoke(token["jti"], reason="late")["revoked"], True)
    refused("token_revoked", 403, lambda: hodl.sessions.hydrate(SESSION, token=token["token"]))
    refused("not_found", 404, lambda: hodl.sessions.get("ses_none"))


def handed_off(hodl):
    def hand_off(seconds_ago):
        return hodl.sessions.handoff(SESSION, audience="claude.anthropic.com", scopes=["read:context"], step_up_timestamp=int(time.time()) - seconds_ago)

    refused("step_up_required", 403, lambda: hand_off(1000))
    expect("handoff_url" in hand_off(0), True)


main(*sys.argv[1:])
