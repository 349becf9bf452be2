"""Holds a dashboard's answers against deploy/dashboard/openapi.yaml: the mock's, and the server's.

usage: contract.py ADDRESS ACTOR-TOKEN
"""

import copy
import http.cookiejar
import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import jsonschema
import yaml

with open(Path(__file__).resolve().parents[2] / "deploy/dashboard/openapi.yaml", encoding="utf-8") as stream:
    DOCUMENT = yaml.safe_load(stream)


def resolved(node):
    while isinstance(node, dict) and "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def strict(schema, is_part=False):
    """The schema with all references filled in, and no field allowed that it does not name."""
    schema = copy.copy(resolved(schema))
    if "allOf" in schema:
        schema["allOf"] = [strict(part, is_part=True) for part in schema["allOf"]]
    if "items" in schema:
        schema["items"] = strict(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        schema["additionalProperties"] = strict(schema["additionalProperties"])
    if "properties" in schema:
        schema["properties"] = {name: strict(value) for name, value in schema["properties"].items()}
    if ("properties" in schema or "allOf" in schema) and not is_part and "additionalProperties" not in schema:
        schema["unevaluatedProperties"] = False
    return schema


def schema_of(path, method, status):
    responses = DOCUMENT["paths"][path][method]["responses"]
    # What every route may answer, the contract says once.
    answer = resolved(responses.get(str(status)) or DOCUMENT["components"]["responses"]["Problem"])
    return strict(answer["content"]["application/json"]["schema"]) if "content" in answer else None


class Caller:
    def __init__(self, address):
        self.address, self.csrf, self.asked = address.rstrip("/"), "", set()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def ask(self, method, path, status, body=None, csrf=None, **query):
        """Asks, and holds status and body against the contract. Gives the body."""
        url = f"{self.address}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"x-pushfleet-csrf": self.csrf if csrf is None else csrf, "content-type": "application/json"}
        request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body is not None else None,
                                         headers=headers)
        try:
            with self.opener.open(request, timeout=30) as answer:
                found, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            found, text = error.code, error.read()
        assert found in (status if isinstance(status, tuple) else (status,)), \
            f"{method} {path}: {found} instead of {status}: {text[:300]!r}"
        self.asked.add((path, method.lower()))
        schema = schema_of(path, method.lower(), found)
        if schema is None:
            return None
        value = json.loads(text)
        validator = jsonschema.Draft202012Validator(schema)
        for error in validator.iter_errors(value):
            where = "/".join(str(part) for part in error.absolute_path)
            raise AssertionError(f"{method} {path} {status} at /{where}: {error.message[:300]}")
        return value


def check(address, token):
    call = Caller(address)
    call.ask("GET", "/api/session", 401)
    call.ask("GET", "/api/events", 401)
    call.ask("GET", "/api/overview", 401)
    call.ask("POST", "/api/session", 401, {"token": "nobody's"})
    call.csrf = call.ask("POST", "/api/session", 200, {"token": token})["csrf_token"]
    call.ask("GET", "/api/session", 200)
    for path in ("overview", "workers", "budgets", "leases", "ladder", "jobs", "reasons", "credentials", "actions"):
        call.ask("GET", f"/api/{path}", 200)
    worker = call.ask("GET", "/api/workers", 200, limit=1)["items"][0]["id"]
    assert all(row["worker"] == worker for row in call.ask("GET", "/api/leases", 200, worker=worker)["items"])
    app = paged(call, "/api/apps", 7)
    paged(call, "/api/workers", 2)
    call.ask("GET", "/api/app", 200, app=app["app"])
    call.ask("GET", "/api/app", 404, app="no such app")
    for sort in ("app", "waiting", "oldest", "delivered", "retried", "dead"):
        call.ask("GET", "/api/apps", 200, sort=sort, state="waiting", limit=5)

    # Dead letters: every page, a filter, one of them.
    page = call.ask("GET", "/api/dead", 200, limit=3)
    seen = [row["id"] for row in page["items"]]
    following = call.ask("GET", "/api/dead", 200, limit=3, after=page["next"])
    assert not set(seen) & {row["id"] for row in following["items"]}, "two pages have a letter in common"
    reason = page["items"][0]["reason"]
    found = call.ask("GET", "/api/dead", 200, reason=reason)
    assert found["items"] and all(row["reason"] == reason for row in found["items"]), "the filter lets others through"
    call.ask("GET", "/api/dead", 400, lane="sideways")
    letter = call.ask("GET", "/api/dead/letter", 200, id=seen[0])
    call.ask("GET", "/api/dead/letter", 404, id="no-such-letter")
    call.ask("POST", "/api/find", 200, {"what": letter.get("message_id", "order-17")})
    call.ask("POST", "/api/find", 200, {"what": "9f86d081884c7d65" * 4})
    assert call.ask("POST", "/api/find", 200, {"what": "nothing-of-the-kind"})["text"]

    # Acting: never without the header, and never beyond what was shown.
    for path, body in (("app/pause", {"app": app["app"]}), ("app/resume", {"app": app["app"]}), ("worker/drain", {"worker": worker}),
                       ("dead/replay", {"ids": seen[:1], "expected": 1}), ("dead/purge", {"ids": seen[:1], "expected": 1}),
                       ("dead/edit", {"id": seen[0], "body": "{}"}), ("job/stop", {"id": "j1"})):
        call.ask("POST", f"/api/{path}", 403, body, csrf="forged")
    call.ask("DELETE", "/api/session", 403, csrf="forged")
    call.ask("POST", "/api/app/pause", 200, {"app": app["app"], "reason": "a test", "for_ms": 60_000})
    assert call.ask("GET", "/api/app", 200, app=app["app"])["paused"]["cause"] == "hand"
    call.ask("POST", "/api/app/resume", 200, {"app": app["app"]})
    call.ask("POST", "/api/app/pause", 404, {"app": "no such app"})
    call.ask("POST", "/api/worker/drain", 404, {"worker": "no such worker"})
    call.ask("POST", "/api/worker/drain", 200, {"worker": worker})
    call.ask("POST", "/api/dead/purge", 409, {"filter": {"reason": reason}, "expected": 1} if found["matched"] > 1 else
             {"filter": {}, "expected": 1})
    call.ask("POST", "/api/dead/edit", 422, {"id": seen[0], "body": "{"})
    call.ask("POST", "/api/dead/edit", 404, {"id": "no-such-letter", "body": "{}"})
    job = call.ask("POST", "/api/dead/replay", 200, {"ids": seen[1:2], "expected": 1})
    call.ask("POST", "/api/job/stop", 200, {"id": job["id"]})
    call.ask("POST", "/api/job/stop", 404, {"id": "no-such-job"})
    call.ask("POST", "/api/dead/purge", 200, {"ids": seen[2:3], "expected": 1})
    events(call)
    call.ask("GET", "/api/jobs", 200)
    call.ask("GET", "/api/actions", 200)
    call.ask("DELETE", "/api/session", 204)
    call.ask("GET", "/api/session", 401)
    every = {(path, method) for path, item in DOCUMENT["paths"].items() for method in item} - call.asked
    assert not every, f"never asked: {sorted(every)}"


def paged(call, path, limit):
    """Goes through a list by pages and finds each thing once. Gives the first."""
    items, total = [], None
    while total is None or len(items) < total:
        page = call.ask("GET", path, 200, limit=limit, offset=len(items))
        assert page["items"], f"{path}: an empty page before the end"
        items += page["items"]
        total = page["total"]
        if len(items) > 60:
            break
    names = [item.get("app") or item.get("id") for item in items]
    assert len(names) == len(set(names)), f"{path}: something stands on two pages"
    return items[0]


def events(call):
    """Both events of the stream, as their routes give them."""
    request = urllib.request.Request(f"{call.address}/api/events")
    wanted = {"overview": "/api/overview", "jobs": "/api/jobs"}
    with call.opener.open(request, timeout=30) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        name = None
        while wanted:
            line = stream.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: ") and name in wanted:
                jsonschema.validate(json.loads(line.removeprefix("data: ")), schema_of(wanted.pop(name), "get", 200))


if __name__ == "__main__":
    check(*sys.argv[1:])
