"""What the contract cannot say of a real server: how fast it answers, what it refuses, and that nothing is left of a refused call.

usage: server.py ADDRESS ACTOR-TOKEN READER-TOKEN
"""

import http.client
import json
import sys
import threading
import time
import urllib.parse

from contract import Caller


def check(address, actor, reader):
    place = urllib.parse.urlsplit(address)
    act = Caller(address)
    act.csrf = act.ask("POST", "/api/session", 200, {"token": actor})["csrf_token"]
    look = Caller(address)
    session = look.ask("POST", "/api/session", 200, {"token": reader})
    look.csrf = session["csrf_token"]
    assert session["user"] == "<b>guest</b>" and session["may_act"] is False
    files(place)
    strangers(place, address)
    readers(act, look)
    bad_input(act)
    leftovers(place, act)
    # Before the letters get fewer.
    speed(act)
    dead_letters(act)
    streams(place, act)


def fetch(place, method, path, body=None, headers=(), connection=None):
    connection = connection or http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    connection.request(method, path, body=body, headers=dict(headers))
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def files(place):
    status, headers, body = fetch(place, "GET", "/")
    assert status == 200 and body.startswith(b"<!doctype html>"), body[:100]
    for name in ("content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options",
                 "cross-origin-opener-policy", "cross-origin-resource-policy", "etag"):
        assert headers[name], f"no {name}"
    assert "require-trusted-types-for 'script'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-cache"
    assert fetch(place, "GET", "/", headers={"if-none-match": headers["etag"]})[0] == 304
    assert fetch(place, "GET", "/page/main.js")[1]["content-type"].startswith("text/javascript")
    for path in ("/page/", "/page/nothing.js", "/page/../API.md", "/page/%2e%2e/Dashboard.swift", "/page/index.html/", "/x"):
        status, headers, body = fetch(place, "GET", path)
        assert status == 404 and json.loads(body)["code"] == "not_found", (path, status)
        assert headers["content-security-policy"], path
    assert fetch(place, "POST", "/", b"x")[0] == 405
    assert fetch(place, "PUT", "/api/apps", b"x")[0] == 405


def strangers(place, address):
    for path in ("overview", "apps", "app", "workers", "budgets", "leases", "ladder", "dead", "dead/letter", "jobs", "reasons",
                 "credentials", "actions", "events", "session"):
        assert fetch(place, "GET", f"/api/{path}")[0] == 401, path
    for path in ("find", "app/pause", "app/resume", "worker/drain", "dead/replay", "dead/purge", "dead/edit", "job/stop"):
        assert fetch(place, "POST", f"/api/{path}", b"{}")[0] == 401, path
    login = {"content-type": "application/json"}
    body = json.dumps({"token": "nobody's token at all"}).encode()
    assert fetch(place, "POST", "/api/session", body, {"content-type": "text/plain"})[0] == 403
    assert fetch(place, "POST", "/api/session", body, login | {"sec-fetch-site": "cross-site"})[0] == 403
    assert fetch(place, "POST", "/api/session", body, login | {"origin": "https://evil.example"})[0] == 403
    assert fetch(place, "POST", "/api/session", body, login | {"origin": address})[0] == 401
    for cookie in ("x", "AAAA.BBBB", "%00", "." * 100):
        assert fetch(place, "GET", "/api/session", headers={"cookie": f"pushfleet_session={cookie}"})[0] == 401
    # Wrong tokens, until the address has to wait.
    for _ in range(20):
        status, headers, _ = fetch(place, "POST", "/api/session", body, login)
        if status == 429:
            break
    assert status == 429 and 0 < int(headers["retry-after"]) <= 61, status


def readers(act, look):
    app = act.ask("GET", "/api/apps", 200, limit=1)["items"][0]["app"]
    problem = look.ask("POST", "/api/app/pause", 403, {"app": app})
    assert problem["code"] == "read_only"
    assert "paused" not in act.ask("GET", "/api/app", 200, app=app)
    latest = act.ask("GET", "/api/actions", 200)["items"][0]
    assert (latest["user"], latest["action"], latest["outcome"]) == ("<b>guest</b>", "pause", "read_only"), latest
    letter = act.ask("GET", "/api/dead", 200, limit=1)["items"][0]["id"]
    whole = act.ask("GET", "/api/dead/letter", 200, id=letter)["body"]
    token = json.loads(whole)["tokens"][0]
    assert len(token) == 64
    assert token not in look.ask("GET", "/api/dead/letter", 200, id=letter)["body"]


def bad_input(act):
    for query in ({"limit": 0}, {"limit": 501}, {"limit": "many"}, {"offset": -1}, {"state": "sideways"}, {"sort": "luck"},
                  {"filter": "x"}, {"q": "x" * 300}):
        act.ask("GET", "/api/apps", 400, **query)
    for query in ({"lane": "sideways"}, {"min_age_ms": "soon"}, {"max_age_ms": -1}, {"after": "nonsense"}, {"before": "1"}):
        act.ask("GET", "/api/dead", 400, **query)
    for hostile in ("\x00", "<script>", "a" * 500, "\u202e", "' OR 1=1", "../../etc/passwd", "*", "{}"):
        act.ask("GET", "/api/app", 404, app=hostile)
        act.ask("GET", "/api/dead/letter", 404, id=hostile)
        assert act.ask("GET", "/api/dead", 200, app=hostile, reason=hostile)["items"] == []
        assert act.ask("GET", "/api/leases", 200, pool=hostile)["items"] == []
        act.ask("POST", "/api/app/pause", 404, {"app": hostile})
        act.ask("POST", "/api/worker/drain", 404, {"worker": hostile})
        assert act.ask("POST", "/api/find", 200, {"what": hostile[:256]})["messages"] == []
    for body in ({}, {"what": ""}, {"what": 7}, {"what": "x", "limit": 0}, {"what": "x", "token": "zz"}, {"what": "x", "y": 1},
                 {"what": "x" * 257}, [], "x", None):
        act.ask("POST", "/api/find", 400, body)
    for body in ({"app": "x", "for_ms": 1}, {"app": "x", "for_ms": 1e300}, {"app": "x", "reason": "r" * 501}, {"app": ["x"]}):
        act.ask("POST", "/api/app/pause", 400, body)
    for body in ({"expected": 1}, {"ids": ["x"]}, {"ids": [], "expected": 1}, {"ids": ["x"], "filter": {}, "expected": 1},
                 {"filter": {"colour": "red"}, "expected": 1}, {"filter": {}, "expected": 0}, {"ids": [1], "expected": 1}):
        act.ask("POST", "/api/dead/replay", 400, body)
        act.ask("POST", "/api/dead/purge", 400, body)
    act.ask("POST", "/api/dead/purge", 400, {"ids": ["x"], "expected": 1, "rate_per_s": 5})


def leftovers(place, act):
    """A refused call leaves nothing on its connection that could be taken for the next one."""
    smuggled = b"GET /page/main.js HTTP/1.1\r\nhost: x\r\n\r\n"
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    for path in ("/api/dead/purge", "/api/session", "/api/nothing", "/"):
        status, headers, _ = fetch(place, "POST", path, smuggled, connection=connection)
        assert status in (401, 403, 404, 405), (path, status)
        status, _, body = fetch(place, "GET", "/livez", connection=connection)
        assert (status, body) == (200, b"ok\n"), (path, status, body[:60])
    for path in ("/api/dead/edit", "/api/find", "/api/session"):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        status, headers, _ = fetch(place, "POST", path, b"x" * 3_000_000, connection=connection)
        assert status in (401, 413), (path, status)
        assert headers["connection"] == "close", path


def dead_letters(act):
    page = act.ask("GET", "/api/dead", 200, limit=500)
    assert page["indexed"] == page["messages"], page
    good = next(row for row in page["items"] if row["reason"] == "apns_rejected")
    bad = next(row for row in page["items"] if row["reason"] == "invalid_field")
    letter = act.ask("GET", "/api/dead/letter", 200, id=bad["id"])
    assert letter["can_replay"] is False and "expires_at" in letter["problem"], letter.get("problem")
    # Still bad: nothing changes, and the job says so.
    job = finished(act, act.ask("POST", "/api/dead/replay", 200, {"ids": [bad["id"]], "expected": 1}))
    assert (job["done"], job["failed"]) == (0, 1), job
    problem = act.ask("POST", "/api/dead/edit", 422, {"id": bad["id"], "body": letter["body"]})
    assert problem["field"] == "expires_at", problem
    body = json.loads(letter["body"]) | {"expires_at": 0}
    act.ask("POST", "/api/dead/edit", 200, {"id": bad["id"], "body": json.dumps(body)})
    act.ask("GET", "/api/dead/letter", 404, id=bad["id"])
    job = finished(act, act.ask("POST", "/api/dead/replay", 200, {"ids": [good["id"], good["id"]], "expected": 1}))
    assert (job["state"], job["done"]) == ("done", 1), job
    job = finished(act, act.ask("POST", "/api/dead/replay", 200, {"ids": [good["id"]], "expected": 1}))
    assert (job["done"], job["skipped"]) == (0, 1), job
    after = act.ask("GET", "/api/dead", 200, limit=500)
    assert after["messages"] == page["messages"] - 2, (page["messages"], after["messages"])
    found = act.ask("GET", "/api/dead", 200, reason="suspect_token")
    act.ask("POST", "/api/dead/purge", 409, {"filter": {"reason": "suspect_token"}, "expected": found["matched"] - 1})
    order = {"filter": {"reason": "suspect_token"}, "expected": found["matched"]}
    job = finished(act, act.ask("POST", "/api/dead/purge", 200, order))
    assert job["done"] == found["matched"], job
    assert act.ask("GET", "/api/dead", 200, reason="suspect_token")["matched"] == 0


def finished(act, job):
    end = time.monotonic() + 60
    while job["state"] == "running":
        assert time.monotonic() < end, job
        time.sleep(0.1)
        job = next(row for row in act.ask("GET", "/api/jobs", 200)["items"] if row["id"] == job["id"])
    return job


def streams(place, act):
    """Of seven streams of one session the first ends, and all end with the session."""
    cookie = "; ".join(f"{item.name}={item.value}" for handler in act.opener.handlers
                       for item in getattr(handler, "cookiejar", ()))
    opened = []
    for _ in range(7):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        connection.request("GET", "/api/events", headers={"cookie": cookie})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.readline() == b"retry: 2000\n"
        opened.append((connection, answer))
    rest = opened[0][1].read()
    assert b"event: overview" in rest
    assert opened[6][1].readline() == b"\n" and opened[6][1].readline() == b"event: overview\n"
    for connection, _ in opened:
        connection.close()


def metrics(act):
    times = []
    for _ in range(12):
        begin = time.monotonic()
        with act.opener.open(f"{act.address}/metrics", timeout=30) as answer:
            size = len(answer.read())
        times.append((time.monotonic() - begin) * 1000)
    times.sort()
    print(f"  {'/metrics':59} median {times[6]:6.1f} ms, slowest {times[-1]:6.1f} ms, {size:7} bytes")


def speed(act):
    """Prints, and gates on nothing: the machine may be busy."""
    app = act.ask("GET", "/api/apps", 200, limit=1)["items"][0]["app"]
    letter = act.ask("GET", "/api/dead", 200, limit=1)["items"][0]["id"]
    cases = [("overview", {}), ("apps", {"limit": 100}), ("apps", {"limit": 500, "sort": "delivered"}), ("app", {"app": app}),
             ("workers", {}), ("budgets", {}), ("leases", {}), ("ladder", {}), ("dead", {}), ("dead", {"limit": 500}),
             ("dead", {"reason": "suspect_token", "q": "order-1"}), ("dead/letter", {"id": letter}), ("jobs", {}),
             ("reasons", {}), ("credentials", {}), ("actions", {}), ("session", {})]
    stop = threading.Event()
    metrics(act)
    for path, query in cases:
        times = []
        for _ in range(12):
            begin = time.monotonic()
            url = f"{act.address}/api/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
            with act.opener.open(url, timeout=30) as answer:
                size = len(answer.read())
            times.append((time.monotonic() - begin) * 1000)
            stop.wait(0.25)
        times.sort()
        print(f"  {path:12} {str(query)[:44]:46} median {times[6]:6.1f} ms, slowest {times[-1]:6.1f} ms, {size:7} bytes")


if __name__ == "__main__":
    check(*sys.argv[1:])
