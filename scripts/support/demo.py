"""The demo behind scripts/demo: a real RabbitMQ, Redis, APNs simulator and three workers, judged from the ledger.

Nothing the workers say about themselves enters the verdict: what was pushed comes from the simulator's ledger, what
was dead-lettered and which tokens are gone from the queues in RabbitMQ, and the apns-ids are computed here anew.
"""

import argparse
import collections
import json
import random
import signal
import subprocess
import sys
import time
import uuid

from fleet import Failed, Fleet, cpu_microseconds, say

APP = "com.example.shop"
NAMESPACE = uuid.UUID("4a9d5ac4-0d0b-4d54-9c5e-7d2f7c9c2b61")
LEASE_SECONDS, HEARTBEAT_SECONDS = 10, 1


class Mix:
    """The messages, and where each must end."""

    def __init__(self, count, seed):
        self.random = random.Random(seed)
        self.groups = collections.defaultdict(list)  # (app of the routing key, lane) -> bodies, in order
        self.pushes = {}  # apns-id -> what must become of that push
        self.refused = {}  # message id -> reason, for messages that never become pushes
        self.gone = []  # tokens the simulator must know as unregistered
        self.wrong_topic = []
        shares = [
            ("several", 0.02), ("unregistered", 0.03), ("wrong_topic", 0.02), ("too_large", 0.01),
            ("malformed", 0.01), ("expired", 0.02), ("unknown_app", 0.005), ("outage", 0.05),
        ]
        kinds = [kind for kind, share in shares for _ in range(max(1, int(count * share)))]
        kinds += ["good"] * max(0, count - len(kinds))
        self.random.shuffle(kinds)
        self.kinds = collections.Counter(kinds)
        for kind in kinds:
            self.add(kind)

    @property
    def count(self):
        return sum(len(bodies) for bodies in self.groups.values())

    def token(self, prefix="00"):
        return prefix + "".join(self.random.choice("0123456789abcdef") for _ in range(62))

    def add(self, kind):
        lane = "now" if self.random.random() < 0.5 else "bulk"
        app = "com.example.unknown" if kind == "unknown_app" else APP
        bodies = self.groups[app, lane]
        message_id = f"{app}-{lane}-{len(bodies) + 1}"
        body = {
            "app": app,
            "tokens": [self.token()],
            "payload": {"aps": {"alert": {"title": "Order", "body": f"{message_id} is on its way"}, "sound": "default"}},
        }
        outcome = "delivered"
        if kind == "several":
            body["tokens"] = [self.token() for _ in range(10)]
        elif kind == "unregistered":
            body["tokens"] = [self.token("dead")]
            self.gone += body["tokens"]
            outcome = "gone"
        elif kind == "wrong_topic":
            body["tokens"] = [self.token("beef")]
            self.wrong_topic += body["tokens"]
            outcome = "dead"
        elif kind == "too_large":
            body["payload"]["filler"] = "ü" * 2100
            self.refused[message_id] = "payload_too_large"
        elif kind == "malformed":
            self.refused[message_id] = "invalid_json"
        elif kind == "expired":
            body["expires_at"] = int(time.time()) - 3600
            self.refused[message_id] = "expired"
        elif kind == "unknown_app":
            self.refused[message_id] = "unknown_app"
        elif kind == "outage":
            body["tokens"] = [self.token("0503")]
        text = json.dumps(body, ensure_ascii=False).encode()
        if kind == "malformed":
            text = text[:-1]
        if message_id not in self.refused:
            for token in body["tokens"]:
                self.pushes[str(uuid.uuid5(NAMESPACE, message_id + "\0" + token))] = outcome
        bodies.append(text)


class Demo(Fleet):
    """The fleet of the demo, what it is given to do, and the verdict."""

    def __init__(self, options):
        super().__init__("demo", options.binary, options.keep)
        self.options = options
        self.workers = []

    def start(self):
        self.start_servers()
        self.start_simulator("--latency", "20ms")
        retry = {"min_backoff": "1s", "max_backoff": "4s", "max_doublings": 2, "age_limit": "10m"}
        self.write_configuration(
            {APP: {"retry": retry}}, self.options.budget,
            budget={"lease": f"{LEASE_SECONDS}s", "heartbeat": f"{HEARTBEAT_SECONDS}s"})
        self.run("topology", "declare")
        for number in range(self.options.workers):
            self.workers.append(self.start_worker(number + 1))

    def teach(self, mix):
        now = int(time.time() * 1000)
        for token in mix.gone:
            self.control("PUT", f"/tokens/{token}", {"topic": APP, "state": "unregistered", "at": now - 86_400_000})
        for token in mix.wrong_topic:
            self.control("PUT", f"/tokens/{token}", {"topic": APP, "state": "other_topic"})
        outage = max(1, mix.kinds["outage"])
        self.control("POST", "/rules", {
            "match": {"token_prefix": "0503", "max": outage},
            "action": {"type": "answer", "status": 503, "reason": "ServiceUnavailable"}})

    # Publishing and waiting

    def publish(self, mix):
        """All lanes at once, each through one `pushfleet send`, which waits for every confirm."""
        senders = []
        for (app, lane), bodies in mix.groups.items():
            lines = self.directory / f"{app}-{lane}.jsonl"
            lines.write_bytes(b"\n".join(bodies) + b"\n")
            with open(lines, "rb") as file, open(self.directory / f"send-{app}-{lane}.log", "wb") as log:
                senders.append(subprocess.Popen(
                    [self.options.binary, "send", "--stdin-jsonl", "--raw", "--app", app, "--lane", lane,
                     "--id-prefix", f"{app}-{lane}-", "--config", str(self.configuration)],
                    stdin=file, stdout=log, stderr=log))
        if any(sender.wait() != 0 for sender in senders):
            raise Failed("pushfleet send could not publish everything")

    def wait(self, mix):
        """Shows progress until every message is accounted for or nothing has moved for a minute."""
        channel = self.channel()
        pushes = sum(outcome == "delivered" for outcome in mix.pushes.values())
        dead = len(mix.refused) + sum(outcome == "dead" for outcome in mix.pushes.values())
        gone = sum(outcome == "gone" for outcome in mix.pushes.values())
        goaways = [pushes // 3, 2 * pushes // 3]
        last, moved = None, time.monotonic()
        while True:
            summary = self.control("GET", "/ledger/summary")
            state = (
                summary["accepted"], self.depth(channel, "pushfleet.dead"), self.depth(channel, "pushfleet.feedback"),
                summary["connections_open"])
            say(f"  pushed {state[0]} of {pushes}   dead-lettered {state[1]} of {dead}   tokens gone {state[2]} of {gone}"
                f"   connections {state[3]} of {self.options.budget}")
            while goaways and state[0] >= goaways[0]:
                goaways.pop(0)
                self.control("POST", "/connections/goaway", {})
                say("  the simulator sent GOAWAY on every connection")
            if state[0] >= pushes and state[1] >= dead and state[2] >= gone:
                return
            if state != last:
                last, moved = state, time.monotonic()
            if time.monotonic() - moved > 60:
                say("  nothing has moved for a minute; judging what is there")
                return
            time.sleep(0.5)

    # Judging

    def cpu(self):
        return cpu_microseconds(*(worker.pid for worker in self.workers))

    def drained(self, queue):
        """All messages of a queue, which keeps them."""
        channel = self.channel()
        while True:
            method, properties, body = channel.basic_get(queue)
            if method is None:
                break
            yield properties, body
        channel.connection.close()

    def judge(self, mix, seconds, cpu):
        accepted = collections.Counter()
        attempts = 0
        answers = collections.Counter()
        for entry in self.ledger():
            attempts += 1
            answers[entry.get("status") or 0, entry.get("reason") or ""] += 1
            if entry["accepted"]:
                accepted[entry["apns_id"]] += 1
        dead_messages, dead_reasons = {}, collections.Counter()
        for properties, _ in self.drained("pushfleet.dead"):
            reason = (properties.headers or {}).get("x-pushfleet-reason", "none")
            dead_reasons[reason] += 1
            dead_messages[properties.message_id] = reason
        gone_pushes = set()
        for _, body in self.drained("pushfleet.feedback"):
            event = json.loads(body)
            gone_pushes.add(str(uuid.uuid5(NAMESPACE, event["message_id"] + "\0" + event["token"])))

        wrong = []
        lost = 0
        delivered = 0
        for apns_id, outcome in mix.pushes.items():
            if outcome == "delivered":
                delivered += apns_id in accepted
                lost += apns_id not in accepted
            elif outcome == "gone" and apns_id not in gone_pushes:
                lost += 1
        dead_expected = len(mix.refused) + mix.kinds["wrong_topic"]
        for message_id, reason in mix.refused.items():
            if message_id not in dead_messages:
                lost += 1
            elif dead_messages[message_id] != reason:
                wrong.append(f"{message_id} died of {dead_messages[message_id]}, not of {reason}")
        lost += max(0, mix.kinds["wrong_topic"] - sum(m not in mix.refused for m in dead_messages))
        strangers = [apns_id for apns_id in accepted if mix.pushes.get(apns_id) != "delivered"]
        if strangers:
            wrong.append(f"{len(strangers)} pushes were accepted that should not have been")
        if len(dead_messages) != dead_expected:
            wrong.append(f"{len(dead_messages)} messages were dead-lettered, expected {dead_expected}")
        summary = self.control("GET", "/ledger/summary")
        peak = summary["connections_peak"]
        if peak > self.options.budget:
            wrong.append(f"{peak} connections were open at once, the budget is {self.options.budget}")
        status = json.loads(self.run("status", "--json"))
        possible = sum(lane["counters"]["possible_duplicates"] for lane in status["lanes"])
        duplicates = sum(count - 1 for count in accepted.values())
        if duplicates > possible:
            wrong.append(f"{duplicates} duplicates, but the workers reported only {possible} as possible")
        return {
            "published": mix.count, "pushes": len(mix.pushes), "delivered": delivered,
            "retried": sum(lane["counters"]["retried"] for lane in status["lanes"]), "dead_lettered": len(dead_messages),
            "dead_letter_reasons": dict(sorted(dead_reasons.items())), "tokens_gone": len(gone_pushes), "lost": lost,
            "duplicates": duplicates, "possible_duplicates": possible, "requests": attempts,
            "answers": {f"{status} {reason}".strip(): count for (status, reason), count in sorted(answers.items())},
            "budget": self.options.budget, "peak_connections": peak, "workers": self.options.workers,
            "seconds": round(seconds, 2), "cpu_us_per_notification": round(cpu / max(1, attempts), 1),
            "wrong": wrong,
        }


def table(result):
    rows = [
        ("messages published", result["published"]),
        ("pushes in them", result["pushes"]),
        ("requests Apple saw", result["requests"]),
        ("delivered", result["delivered"]),
        ("retried", result["retried"]),
        ("tokens gone", result["tokens_gone"]),
        ("dead-lettered", result["dead_lettered"]),
        *((f"  {reason}", count) for reason, count in result["dead_letter_reasons"].items()),
        ("lost", result["lost"]),
        ("duplicates", f"{result['duplicates']} (reported as possible: {result['possible_duplicates']})"),
        ("peak connections", f"{result['peak_connections']} of {result['budget']}"),
        ("seconds", result["seconds"]),
        ("worker CPU per request", f"{result['cpu_us_per_notification']} µs"),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name.ljust(width)}  {value}" for name, value in rows)


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--budget", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.messages < 100 or options.workers < 1 or options.budget < 1:
        parser.error("at least 100 messages, 1 worker and a budget of 1")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    demo = Demo(options)
    keep = False
    try:
        demo.start()
        mix = Mix(options.messages, options.seed)
        demo.teach(mix)
        say(f"Publishing {options.messages} messages: "
            + ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in mix.kinds.most_common()))
        cpu = demo.cpu()
        begin = time.monotonic()
        demo.publish(mix)
        demo.wait(mix)
        seconds = time.monotonic() - begin
        cpu = demo.cpu() - cpu
        result = demo.judge(mix, seconds, cpu)
        print(table(result))
        good = result["lost"] == 0 and not result["wrong"]
        for problem in result["wrong"]:
            print(f"WRONG: {problem}")
        print("All sums are right." if good else "Some sums are wrong.")
        keep = options.keep
        if keep:
            binary = options.binary
            dashboard, page, token = demo.start_dashboard()
            print(f"""
Everything is still running in {demo.directory}. Look at
  {page} and log in with the token {token}
Try:
  {binary} top --config {demo.configuration}
  {binary} status --config {demo.configuration}
  {binary} dead --config {demo.configuration}
  {binary} send --config {demo.configuration} --app {APP} --token 00ff --alert Hello
  curl -s http://127.0.0.1:{demo.control_port}/ledger/summary
Stop it with:
  kill {' '.join(str(process.pid) for process in [*demo.workers, dashboard])}; pkill -f 'simulator.*{demo.directory}'
  scripts/private-rabbitmq stop {demo.directory}/rabbitmq; scripts/private-redis stop {demo.directory}/redis
""")
        if options.json:
            print(json.dumps(result))
        return 0 if good else 1
    except Failed as failure:
        say(f"demo: {failure}")
        demo.show_logs()
        return 2
    except KeyboardInterrupt:
        say("demo: interrupted")
        return 130
    finally:
        if not keep:
            demo.close()


sys.exit(main())
