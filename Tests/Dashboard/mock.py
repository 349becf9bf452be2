#!/usr/bin/python3
"""The dashboard's page with made-up data, for working on the page and for its tests. Standard library only.

usage: mock.py [--port N] [--apps N] [--workers N] [--dead N] [--seed N] [--no-hostile] [--slow MS]

Log in with the token `actor` or `reader`. POST /mock takes {"fail": {"/api/apps": 503}}, {"down": ["redis"]},
{"expire": true} or {"stream": false} and so plays bad days; {} ends them. Prints port=N when it listens.
"""

import argparse
import http.cookies
import json
import mimetypes
import os
import secrets
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fleet import Fleet, now_ms

PAGE = Path(__file__).resolve().parents[2] / "Sources/Dashboard/Page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
USERS = {"actor": ("lena", True), "reader": ("<b>guest</b>", False)}


class Problem(Exception):
    def __init__(self, status, code, error, next_step=None, **fields):
        super().__init__(error)
        self.status = status
        self.body = {"error": error, "code": code} | fields | ({"next_step": next_step} if next_step else {})


class Mock:
    def __init__(self, options):
        self.fleet = Fleet(options.apps, options.workers, options.dead, options.seed, not options.no_hostile)
        self.slow = options.slow / 1000
        self.lock = threading.RLock()
        self.sessions = {}
        self.fail, self.down, self.stream = {}, [], True

    def sources(self):
        return {name: {"ok": False, "error": f"{name} does not answer: connection refused"} if name in self.down
                else {"ok": True} for name in ("redis", "rabbitmq")}

    def act(self, session, action, target, detail=""):
        row = {"time_ms": now_ms(), "user": session["user"], "action": action, "outcome": "ok"}
        self.fleet.actions.insert(0, row | ({"target": target} if target else {}) | ({"detail": detail} if detail else {}))

    def start(self, session, kind, order):
        fleet = self.fleet
        if "ids" in order:
            chosen = [name for name in order["ids"] if name in fleet.dead]
            what = f"{len(order['ids'])} chosen"
        else:
            chosen = [letter["id"] for letter in fleet.matching(order["filter"])[1]]
            what = ", ".join(f"{name} {value}" for name, value in order["filter"].items()) or "all"
            if len(chosen) > order["expected"]:
                raise Problem(409, "changed", f"{len(chosen)} dead letters fit now; you were shown {order['expected']}",
                              "Look at the list again, and then decide.")
        total = len(order.get("ids", chosen))
        job = {"id": f"j{fleet.next_job}", "kind": kind, "state": "running", "user": session["user"], "what": what,
               "started_at_ms": now_ms(), "total": total, "done": 0, "failed": 0, "skipped": total - len(chosen)}
        fleet.next_job += 1
        if kind == "replay":
            job["rate_per_s"] = order.get("rate_per_s", 500)
        fleet.jobs.insert(0, job)
        self.act(session, kind, what)
        threading.Thread(target=self.work, args=(job, chosen), daemon=True).start()
        return job

    def work(self, job, chosen):
        rate = job.get("rate_per_s", 5000)
        while job["state"] == "running":
            time.sleep(0.1)
            with self.lock:
                for _ in range(max(1, rate // 10)):
                    if not chosen:
                        job |= {"state": "done", "ended_at_ms": now_ms()}
                        return
                    self.fleet.dead.pop(chosen.pop(0), None)
                    job["done"] += 1


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mock = None

    def log_message(self, *_):
        pass

    # MARK: Answers

    def common(self):
        for name, value in (
            ("content-security-policy", POLICY), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), geolocation=(), microphone=()"), ("x-frame-options", "DENY"),
        ):
            self.send_header(name, value)

    def answer(self, status, body=None, headers=()):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.common()
        self.send_header("cache-control", "no-store")
        if body is not None:
            self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def asset(self, path):
        file = PAGE / ("index.html" if path == "/" else path.removeprefix("/page/"))
        if file.resolve().parent != PAGE or not file.is_file():
            return self.answer(404, {"error": "there is no such file", "code": "not_found"})
        data = file.read_bytes()
        self.send_response(200)
        self.common()
        self.send_header("cache-control", "no-cache")
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        self.send_header("content-type", kind + ("; charset=utf-8" if kind.startswith("text/") else ""))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    # MARK: Who asks

    def session(self):
        cookie = http.cookies.SimpleCookie(self.headers.get("cookie", "")).get("pushfleet_session")
        session = self.mock.sessions.get(cookie.value) if cookie else None
        if session is None:
            raise Problem(401, "not_logged_in", "you are not logged in", "Log in with your token.")
        return session

    def guard(self, session):
        if not secrets.compare_digest(self.headers.get("x-pushfleet-csrf", ""), session["csrf_token"]):
            raise Problem(403, "forged", "the call does not come from this page", "Load the page again.")

    @staticmethod
    def shown(session):
        return {name: value for name, value in session.items() if name != "key"}

    def login(self):
        user = USERS.get(self.body().get("token"))
        if user is None:
            time.sleep(0.2)
            raise Problem(401, "bad_token", "no user has this token", "Ask whoever runs the fleet for one.")
        key = secrets.token_urlsafe(24)
        session = {"user": user[0], "may_act": user[1], "login": "token", "csrf_token": secrets.token_urlsafe(24),
                   "expires_at_ms": now_ms() + 8 * 3_600_000, "version": "1.6.0", "fleet": "production"}
        self.mock.sessions[key] = session | {"key": key}
        self.mock.act(session, "login", "")
        self.answer(200, session, [("set-cookie", f"pushfleet_session={key}; Path=/; HttpOnly; SameSite=Strict; Max-Age=28800")])

    # MARK: Calls

    def body(self):
        try:
            return json.loads(self.text or b"{}")
        except ValueError:
            raise Problem(400, "bad_request", "the body is not JSON") from None

    def do_GET(self):
        self.play(self.get)

    def do_POST(self):
        self.play(self.post)

    def do_DELETE(self):
        self.play(self.delete)

    def play(self, call):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        # Read in any case: what is left of a body would be taken for the next request.
        self.text = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            if url.path.startswith("/api/"):
                time.sleep(self.mock.slow)
                if url.path in self.mock.fail:
                    raise Problem(self.mock.fail[url.path], "unavailable", "RabbitMQ does not answer: connection refused",
                                  "Look at RabbitMQ, then try again.")
            call(url.path, query)
        except Problem as problem:
            self.answer(problem.status, problem.body)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def delete(self, path, _):
        session = self.session()
        self.guard(session)
        if path != "/api/session":
            raise Problem(404, "not_found", "there is no such route")
        self.mock.sessions.pop(session["key"], None)
        self.answer(204, None, [("set-cookie", "pushfleet_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")])

    def get(self, path, query):
        if path == "/" or path.startswith("/page/"):
            return self.asset(path)
        session = self.session()
        if path == "/api/events":
            return self.events(session)
        with self.mock.lock:
            result = self.read(path, query, session)
        self.answer(200, result)

    def page(self, items, query):
        first, limit = int(query.get("offset", 0)), int(query.get("limit", 100))
        return {"time_ms": now_ms(), "total": len(items), "items": items[first:first + limit]}

    def read(self, path, query, session):
        fleet = self.mock.fleet
        match path:
            case "/api/session":
                return self.shown(session)
            case "/api/overview":
                return fleet.overview(self.mock.sources())
            case "/api/apps":
                return self.page(self.apps(query), query)
            case "/api/app":
                if query.get("app") not in fleet.apps:
                    raise Problem(404, "not_found", "there is no such app", "Look at the list of apps.")
                return fleet.app_detail(query["app"])
            case "/api/workers":
                part = query.get("q", "").lower()
                return self.page([fleet.worker(item) for item in fleet.workers.values()
                                  if part in item["id"] or part in item["host"].lower()], query)
            case "/api/budgets":
                return self.page(fleet.budgets(), query)
            case "/api/leases":
                return self.page(fleet.leases(query.get("pool"), query.get("worker")), query)
            case "/api/ladder":
                return fleet.ladder()
            case "/api/dead":
                if query.get("lane", "now") not in ("now", "bulk"):
                    raise Problem(400, "bad_request", "lane must be now or bulk", field="lane")
                return fleet.dead_page(query)
            case "/api/dead/letter":
                if query.get("id") not in fleet.dead:
                    raise Problem(404, "not_found", "this dead letter is not in the queue any more",
                                  "Somebody replayed or purged it; see Activity.")
                return fleet.dead_detail(query["id"])
            case "/api/jobs":
                return {"time_ms": now_ms(), "items": fleet.jobs[:50]}
            case "/api/reasons":
                return {"time_ms": now_ms(), "items": fleet.reasons()}
            case "/api/credentials":
                return {"time_ms": now_ms(), "items": fleet.credentials()}
            case "/api/actions":
                return {"time_ms": now_ms(), "items": fleet.actions[:200]}
        raise Problem(404, "not_found", "there is no such route")

    def apps(self, query):
        fleet = self.mock.fleet
        part, state = query.get("q", "").lower(), query.get("state", "all")
        items = [fleet.app(item) for item in fleet.apps.values()
                 if part in item["app"].lower() or part in item["credential"]]
        tests = {"paused": lambda app: "paused" in app, "waiting": lambda app: app["waiting"] > 0,
                 "dead": lambda app: app["dead_lettered_hour"] > 0}
        items = [app for app in items if tests.get(state, lambda app: True)(app)]
        orders = {"app": lambda app: app["app"], "waiting": lambda app: -app["waiting"],
                  "oldest": lambda app: -app.get("oldest_ms", 0), "delivered": lambda app: -app["delivered_minute"],
                  "retried": lambda app: -app["retried_hour"], "dead": lambda app: -app["dead_lettered_hour"]}
        return sorted(items, key=orders[query.get("sort", "app")])

    def post(self, path, _):
        if path == "/mock":
            order = self.body()
            self.mock.fail, self.mock.down = order.get("fail", {}), order.get("down", [])
            self.mock.stream = order.get("stream", True)
            if order.get("expire"):
                self.mock.sessions.clear()
            return self.answer(204)
        if path == "/api/session":
            return self.login()
        session = self.session()
        self.guard(session)
        order = self.body()
        with self.mock.lock:
            if path == "/api/find":
                return self.answer(200, self.mock.fleet.find(order))
            if not session["may_act"]:
                raise Problem(403, "read_only", "you may look, but not act", "Log in with a token that may act.")
            result = self.change(path, order, session)
        self.answer(200, result)

    def change(self, path, order, session):
        mock, fleet = self.mock, self.mock.fleet
        match path:
            case "/api/app/pause" | "/api/app/resume":
                app = fleet.apps.get(order.get("app"))
                if app is None:
                    raise Problem(404, "not_found", "there is no such app")
                verb = path.rsplit("/", 1)[1]
                mock.act(session, verb, app["app"], order.get("reason", ""))
                app.pop("paused", None)
                if verb == "pause":
                    app["paused"] = {"app": app["app"], "cause": "hand", "since_ms": now_ms(), "by": session["user"]}
                    if order.get("reason"):
                        app["paused"]["reason"] = order["reason"]
                    if "for_ms" in order:
                        app["paused"]["until_ms"] = now_ms() + order["for_ms"]
                    return {"text": f"{app['app']} is paused; workers stop within 2 seconds."}
                return {"text": f"{app['app']} goes on within 2 seconds."}
            case "/api/worker/drain":
                if order.get("worker") not in fleet.workers:
                    raise Problem(404, "not_found", "this worker is gone")
                fleet.draining.add(order["worker"])
                mock.act(session, "drain", order["worker"])
                return {"text": f"Worker {order['worker']} drains and exits."}
            case "/api/dead/replay" | "/api/dead/purge":
                return mock.start(session, path.rsplit("/", 1)[1], order)
            case "/api/dead/edit":
                if order.get("id") not in fleet.dead:
                    raise Problem(404, "not_found", "this dead letter is not in the queue any more")
                try:
                    body = json.loads(order["body"])
                except ValueError as error:
                    raise Problem(422, "refused", f"the body is not valid JSON: {error}", "Correct it; nothing was sent.",
                                  field="body") from None
                for name in ("app", "payload"):
                    if name not in body:
                        raise Problem(422, "refused", f"{name} is missing", "Add it; nothing was sent.", field=name)
                letter = fleet.dead.pop(order["id"])
                mock.act(session, "edit", letter.get("message_id", letter["id"]))
                return {"text": f"{letter.get('message_id', 'The message')} was published with the new body."}
            case "/api/job/stop":
                job = next((job for job in fleet.jobs if job["id"] == order.get("id")), None)
                if job is None:
                    raise Problem(404, "not_found", "there is no such job")
                if job["state"] == "running":
                    job |= {"state": "stopped", "ended_at_ms": now_ms()}
                    mock.act(session, "stop", job["id"])
                return job
        raise Problem(404, "not_found", "there is no such route")

    # MARK: The stream

    def events(self, session):
        if not self.mock.stream:
            raise Problem(503, "unavailable", "the stream is off")
        self.send_response(200)
        self.common()
        self.send_header("cache-control", "no-store")
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b"retry: 1000\n\n")
        told, last = None, 0.0
        while self.mock.stream:
            if session["key"] not in self.mock.sessions:
                self.wfile.write(b"event: session\ndata: {}\n\n")
                return
            with self.mock.lock:
                jobs = {"items": self.mock.fleet.jobs[:50]}
                if time.monotonic() - last >= 2:
                    last = time.monotonic()
                    self.send("overview", self.mock.fleet.overview(self.mock.sources()))
                text = json.dumps(jobs)
                if text != told:
                    told = text
                    self.send("jobs", jobs | {"time_ms": now_ms()})
            time.sleep(0.2)

    def send(self, name, value):
        self.wfile.write(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("port", 0), ("apps", 30), ("workers", 5), ("dead", 200), ("seed", 1), ("slow", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--no-hostile", action="store_true")
    options = parser.parse_args()
    Handler.mock = Mock(options)
    server = Server(("127.0.0.1", options.port), Handler)
    print(f"port={server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    mimetypes.add_type("text/javascript", ".js")
    main()
