"""One measurement: a case, what the workers did with it, and the floor of the same work."""

import dataclasses
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import machine
from floor import per
from fleet import Failed, cpu_microseconds, say

APP = "com.example.shop"
QUEUE = f"pushfleet.{APP}.now"
PREFETCH, STREAMS = 750, 1000
PEER = pathlib.Path(__file__).with_name("peer.py")
PEER_PACKAGES = ["aio-pika==10.2.1", "aioapns==4.0"]
RETRY = {"min_backoff": "1s", "max_backoff": "1s", "max_doublings": 0, "age_limit": "10m"}


@dataclasses.dataclass(frozen=True)
class Case:
    """What is published, and the fleet that sends it."""

    name: str
    messages: int = 100_000
    tokens: int = 1
    payload: int = 200
    retried: int = 0  # percent of the messages whose pushes are answered 503 once
    apps: int = 1
    workers: int = 1
    loops: int = 1
    connections: int = 1  # of all workers together
    latency: int = 0  # milliseconds from a request's arrival to its answer
    streams_per_connection: int = 500
    bursts: int = 0  # the messages come so many times, each time all of them while the worker stands still
    goal: float | None = None  # times the floor

    @property
    def notifications(self):
        return self.messages * self.tokens

    @property
    def requests(self):
        return self.notifications + self.notifications * self.retried // 100

    @property
    def in_flight(self):
        """As many on one connection as the worker's settings allow: what a worker may hold, or what Apple takes."""
        return min(STREAMS, max(PREFETCH, 8 * self.tokens))


class Bench:
    """Runs cases on one fleet."""

    def __init__(self, fleet, floor):
        self.fleet = fleet
        self.floor = floor
        self.declared = None
        self.base = 0
        self.warnings = []

    # Setting up

    def prepare(self, case):
        retry = {"retry": RETRY}
        names = [APP, *(f"{APP}{number}" for number in range(1, case.apps))]
        self.fleet.write_configuration(
            {name: retry for name in names}, case.connections,
            worker={"loops": case.loops, "prefetch_per_connection": PREFETCH,
                    "streams_per_connection": case.streams_per_connection})
        what = (case.apps, case.connections)
        if self.declared != what:
            self.redis("FLUSHALL")
            self.fleet.run("topology", "declare")
            self.declared = what
        self.payload = self.fleet.directory / f"payload-{case.payload}.json"
        alert = {"title": "Order", "body": ""}
        push = {"aps": {"alert": alert, "sound": "default"}}
        alert["body"] = ("It is on its way. " * (case.payload // 18 + 1))[: case.payload - len(json.dumps(push))]
        self.payload.write_text(json.dumps(push))

    def teach(self, case, **settings):
        """A new ledger, and refusals for what is to be tried again."""
        self.base, _ = self.newest()
        self.fleet.control("POST", "/reset", {})
        self.fleet.control("POST", "/settings", {"latency_ms": case.latency, **settings})
        if case.retried:
            self.refuse({"max": case.notifications * case.retried // 100})

    def refuse(self, match):
        self.fleet.control("POST", "/rules", {
            "match": {"token_prefix": "0503", **match},
            "action": {"type": "answer", "status": 503, "reason": "ServiceUnavailable"}})

    def redis(self, *words):
        return machine.output("redis-cli", "-p", self.fleet.redis["port"], *words)

    def redis_calls(self):
        """Scripts that were run since the last reset: whatever the worker writes, it writes with one."""
        text = self.redis("INFO", "commandstats")
        lines = [line.split(":", 1) for line in text.splitlines() if line.startswith("cmdstat_evalsha:")]
        return sum(int(values.split(",")[0].removeprefix("calls=")) for _, values in lines)

    def publish_options(self, case):
        return {
            "messages": case.messages, "payload": self.payload, "tokens": case.tokens, "app": APP, "apps": case.apps,
            "retried_percent": case.retried}

    def settle(self):
        if not machine.wait_until_quiet():
            self.warn("the machine did not come to rest before a measurement")

    def warn(self, text):
        if text not in self.warnings:
            self.warnings.append(text)
            say(f"  WARNING: {text}")

    # The worker

    def newest(self):
        """The number of the newest request, and when it came (milliseconds since 1970)."""
        entries = self.fleet.control("GET", "/ledger?limit=1")["entries"]
        # An emptied ledger goes on with its numbers.
        return (entries[0]["sequence"], entries[0]["arrival"]) if entries else (self.base, 0)

    def start_workers(self, case):
        return [self.fleet.start_worker(number + 1) for number in range(case.workers)]

    def stop_workers(self, workers):
        for number, process in enumerate(workers):
            self.fleet.stop(process, f"worker-{number + 1}")

    def wait_for(self, sequence, patience=60):
        last, moved = None, time.monotonic()
        while True:
            newest = self.newest()
            if newest[0] >= sequence:
                return newest
            if newest != last:
                last, moved = newest, time.monotonic()
            if time.monotonic() - moved > patience:
                raise Failed(f"nothing was pushed for {patience} s, after {newest[0]} of {sequence} requests")
            time.sleep(0.05)

    def drain(self, case, start=None, **settings):
        """Publishes everything, starts the workers, and watches them until all is sent.

        What they do before the first pushes, that is their start, does not count."""
        self.teach(case, **settings)
        published = self.floor.publish(**self.publish_options(case))
        self.settle()
        first, _ = self.newest()
        if case.bursts:
            return self.drain_bursts(case, published)
        pids = [self.fleet.simulator.pid, int(self.fleet.rabbitmq["pid"]), int(self.fleet.redis["pid"])]
        started = time.time() * 1000
        workers = (start or self.start_workers)(case)
        try:
            worker_pids = [process.pid for process in workers]
            self.wait_for(first + max(1, case.requests // 100))
            watch = machine.Watch([*pids, *worker_pids, os.getpid()])
            calls = self.redis_calls()
            cpu = cpu_microseconds(*worker_pids)
            begin, begin_time = self.newest()
            end, end_time = self.wait_for(first + case.requests)
            # Acknowledgements, and the counters' last flush.
            time.sleep(0.7)
            cpu = cpu_microseconds(*worker_pids) - cpu
            calls = self.redis_calls() - calls
            others = watch.others()
            if others > 0.1 * os.cpu_count():
                self.warn(f"other processes took {others:.2f} of a core during '{case.name}'")
            oldest = self.fleet.control("GET", f"/ledger?limit=1&before={first + 2}")["entries"]
            notifications = (end - begin) * case.notifications / case.requests
            now, most = zip(*(machine.memory_mb(pid) for pid in worker_pids))
            return {
                "cpu_us": cpu / notifications,
                "per_second": notifications / max(0.001, (end_time - begin_time) / 1000),
                "redis_calls": calls / notifications,
                "rss_mb": max(now), "rss_peak_mb": max(most),
                "first_push_ms": oldest[0]["arrival"] - started if oldest else None,
                "connections": self.fleet.control("GET", "/ledger/summary")["connections_peak"],
                "simulator_us": watch.used(pids[0]) * 1e6 / (end - begin),
                "broker_us": watch.used(pids[1]) * 1e6 / (notifications / case.tokens),
                "others": others,
                "published_per_second": published["count"] / published["seconds"],
            }
        finally:
            self.stop_workers(workers)

    def drain_bursts(self, case, published):
        """Too few messages to be watched: the same again and again, while the worker is stopped, and then let go."""
        workers = self.start_workers(case)
        try:
            pids = [process.pid for process in workers]
            self.wait_for(self.base + case.requests)
            spent, calls, cpu = 0, self.redis_calls(), cpu_microseconds(*pids)
            for _ in range(case.bursts):
                before, _ = self.newest()
                for pid in pids:
                    os.kill(pid, signal.SIGSTOP)
                try:
                    self.floor.publish(**self.publish_options(case))
                finally:
                    for pid in pids:
                        os.kill(pid, signal.SIGCONT)
                _, last = self.wait_for(before + case.requests)
                first = self.fleet.control("GET", f"/ledger?limit=1&before={before + 2}")["entries"]
                spent += last - first[0]["arrival"]
            time.sleep(0.7)
            notifications = case.bursts * case.notifications
            now, most = zip(*(machine.memory_mb(pid) for pid in pids))
            return {
                "cpu_us": (cpu_microseconds(*pids) - cpu) / notifications,
                "per_second": notifications / max(0.001, spent / 1000),
                "redis_calls": (self.redis_calls() - calls) / notifications,
                "rss_mb": max(now), "rss_peak_mb": max(most),
                "published_per_second": published["count"] / published["seconds"],
            }
        finally:
            self.stop_workers(workers)

    # The floor

    def measure_floor(self, case, redis_calls, runs):
        """What the C libraries alone cost for one notification of this case, in microseconds."""
        sending, consuming, publishing, writing, checks = [], [], [], [], []
        share = case.requests / case.notifications - 1
        requests = min(case.requests, 300_000)
        messages = min(case.messages, 100_000)
        prefetch = max(8, PREFETCH * case.connections // case.tokens)
        for _ in range(runs):
            self.teach(dataclasses.replace(case, retried=0))
            if case.retried:
                self.refuse({})
            sending.append(self.floor.requests(
                requests, case.connections, case.in_flight, APP, self.payload, round(100 * share / (1 + share))))
            publishing.append(self.floor.publish(**{
                **self.publish_options(case), "messages": messages, "apps": 1}))
            self.settle()
            consuming.append(self.floor.consume(QUEUE, messages, min(2000, prefetch)))
            writing.append(self.floor.redis(2000, 10))
            checks.append(self.floor.h2load(requests, case.connections, case.in_flight, APP, self.payload))
        parts = {
            "requests": per(sending) * (1 + share),
            "consume": per(consuming) * (1 + share) / case.tokens,
            "redis": per(writing) * redis_calls,
        }
        if share:
            # One copy of the message for all of its tokens.
            parts["publish"] = per(publishing) * share / case.tokens
        return {**parts, "sum": sum(parts.values()), "h2load": statistics.median(checks) * (1 + share)}

    # A peer

    def install_peer(self):
        """Into an environment of its own."""
        home = self.fleet.directory / "peer"
        if not home.exists():
            say("Installing aio-pika and aioapns …")
            for command in ([sys.executable, "-m", "venv", home], [home / "bin/pip", "install", "-q", *PEER_PACKAGES]):
                if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
                    raise Failed("the peer cannot be installed; it needs python3-venv and PyPI")

    def start_peer(self, case):
        return [self.fleet.spawn(
            "peer", PEER, "--amqp-url", self.fleet.amqp_url, "--queue", QUEUE, "--key",
            self.fleet.certs / "auth.p8", "--key-id", self.fleet.key_id, "--team-id", self.fleet.team_id, "--topic",
            APP, "--ca", self.fleet.certs / "ca.pem", "--apns-port", self.fleet.apns_port, "--prefetch",
            max(8, PREFETCH // case.tokens), program=self.fleet.directory / "peer/bin/python")]

    def measure_peer(self, case):
        self.install_peer()
        say(f"{case.name} …")
        self.prepare(case)
        # It opens a thousand streams and a window's worth of bodies at once, and gives up on a server that forbids it.
        result = self.drain(
            case, self.start_peer, initial_streams=STREAMS, window=1 << 20, connection_window=1 << 30)
        say(f"  {result['cpu_us']:.2f} µs of CPU per notification, {result['per_second']:,.0f} per second")
        return {**result, "case": dataclasses.asdict(case), "runs": [result]}

    # Both

    def measure(self, case, runs, with_floor=True):
        """Medians of several runs, and all that was measured."""
        say(f"{case.name} …")
        self.prepare(case)
        drains = []
        for _ in range(runs):
            drains.append(self.drain(case))
            say(f"  {drains[-1]['cpu_us']:.2f} µs of CPU per notification, {drains[-1]['per_second']:,.0f} per second")
        result = {key: statistics.median(each[key] for each in drains) for key in drains[0]}
        result["case"] = dataclasses.asdict(case)
        result["runs"] = drains
        if with_floor:
            result["floor"] = self.measure_floor(case, result["redis_calls"], runs)
            result["ratio"] = result["cpu_us"] / result["floor"]["sum"]
            say(f"  floor {result['floor']['sum']:.2f} µs, {result['ratio']:.2f} times that")
        return result

    # Latency

    def live(self, case, rate, seconds, looks_at_idle=True):
        """Publishes at a rate while the workers run, and looks at when each push arrived for the first time.

        - rate: messages per second; 0 for as fast as it goes."""
        messages = max(1, round(rate * seconds)) if rate else case.messages
        case = dataclasses.replace(case, messages=messages)
        self.prepare(case)
        self.teach(case)
        workers = self.start_workers(case)
        try:
            pids = [process.pid for process in workers]
            first, _ = self.newest()
            warm = max(case.apps, 500 // case.tokens)
            self.floor.publish(**{**self.publish_options(case), "messages": warm, "retried_percent": 0})
            first, _ = self.wait_for(first + warm * case.tokens)
            result = {"case": dataclasses.asdict(case), "rate": rate}
            if looks_at_idle:
                time.sleep(1)
                idle = cpu_microseconds(*pids)
                time.sleep(3)
                result["idle_share"] = (cpu_microseconds(*pids) - idle) / 3e6
            cpu = cpu_microseconds(*pids)
            published = self.floor.publish(**{**self.publish_options(case), "rate": rate})
            self.wait_for(first + case.requests)
            time.sleep(0.7)
            cpu = cpu_microseconds(*pids) - cpu
            arrivals = {}
            for entry in self.fleet.ledger():
                if entry["sequence"] <= first:
                    break
                # From the newest to the oldest: what stays is the first attempt.
                arrivals[entry["token"]] = entry["arrival"]
            delays = sorted(
                arrival + 0.5 - int(token[4:20], 16) / 1000 for token, arrival in arrivals.items())
            took = max(arrivals.values()) - min(arrivals.values())
            return {
                **result, "published": published["count"] / published["seconds"],
                "per_second": len(delays) / max(0.001, took / 1000), "cpu_us": cpu / case.notifications,
                "latency_ms": {name: delays[int(len(delays) * share)] for name, share in
                               {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}.items()} | {"max": delays[-1]},
                "rss_mb": max(machine.memory_mb(pid)[0] for pid in pids),
            }
        finally:
            self.stop_workers(workers)
