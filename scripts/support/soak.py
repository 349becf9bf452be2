"""The soak behind scripts/soak: workers live through a long day, and nothing of them may grow."""

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import machine
from fleet import Failed, Fleet, run_script, say
from floor import Floor
from release import build, refuse_debug
from table import table

SHOP, NEWS, GUEST = "com.example.shop", "com.example.news", "com.example.guest"
WORKERS, CONNECTIONS = 2, 4
PERIOD = 4  # rounds after which the disturbances begin anew
RETRY = {"min_backoff": "1s", "max_backoff": "1s", "max_doublings": 0, "age_limit": "3m"}
AGE_LIMIT = 180
PATIENCE = 60
# What the workers' logs say of the disturbances. Each must have happened, though one may find nothing to void.
HAPPENINGS = {
    "RabbitMQ connections lost": "RabbitMQ connection lost",
    "deliveries voided": "Deliveries are void",
    "Redis away": "Redis is away",
    "GOAWAYs": "Apple ends a connection",
    "apps changed": "An app has changed",
    "apps added": "An app was added",
    "apps removed": "An app was removed",
}


@dataclasses.dataclass(frozen=True)
class Part:
    """One kind of message in a round."""

    share: float  # of the round's notifications
    tokens: int
    app: str
    lane: str
    prefix: str = "0000"
    retried: int = 0  # percent of the messages whose pushes are refused once
    is_expired: bool = False


PARTS = [
    Part(0.25, 1, SHOP, "now"),
    Part(0.05, 3, SHOP, "now", retried=25),
    Part(0.02, 1, SHOP, "bulk", prefix="0410"),
    Part(0.20, 10, NEWS, "bulk"),
    Part(0.01, 1, NEWS, "now", prefix="0413"),
    Part(0.01, 2, NEWS, "bulk", is_expired=True),
    Part(0.16, 30, NEWS, "now"),
    Part(0.30, 100, SHOP, "bulk"),
]


@dataclasses.dataclass(frozen=True)
class Growth:
    """Something that may not grow, and by how much it may vary."""

    name: str
    title: str
    share: float = 0
    more: float = 0
    digits: int = 0

    def limit(self, before):
        return before * (1 + self.share) + self.more


GROWTHS = [
    # The allocator keeps what the busiest moment needed.
    Growth("rss_mb", "RSS MB", share=0.04, more=2, digits=1),
    Growth("descriptors", "descriptors", more=2),
    Growth("threads", "threads"),
    Growth("redis_keys", "Redis keys", more=2),
    Growth("redis_mb", "Redis MB", share=0.05, more=1, digits=1),
    Growth("left", "left in queues"),
]


class Soak:
    """Runs rounds on one fleet."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.floor = Floor(fleet)
        self.samples = []
        self.connections = 0
        self.lost = 0
        self.duplicates = 0
        self.problems = []
        self.queues = []

    # Setting up

    def start(self):
        fleet = self.fleet
        fleet.start_servers()
        fleet.start_simulator("--ledger-limit", 2_000_000, "--latency", "2ms")
        # A user of their own, so that only the workers' connections are closed.
        self.rabbitmqctl("add_user workers workers && rabbitmqctl set_permissions workers '.*' '.*' '.*'")
        self.amqp_url = fleet.amqp_url.replace("guest:guest", "workers:workers")
        self.configure(weight=1, has_guest=True)
        fleet.run("topology", "declare")
        self.queues = [f"pushfleet.{app}.{lane}" for app in (SHOP, NEWS, GUEST) for lane in ("now", "bulk")]
        self.queues += ["pushfleet.unrouted", "pushfleet.delay.1s"]
        text = {"aps": {"alert": {"title": "Order", "body": "It is on its way. " * 6}, "sound": "default"}}
        self.payload = fleet.directory / "payload.json"
        self.payload.write_text(json.dumps(text))
        # The publisher puts it into the body as it is: one field more.
        self.expired = fleet.directory / "expired.json"
        self.expired.write_text(json.dumps(text) + ',"expires_at":1')
        self.workers = [fleet.start_worker(number + 1) for number in range(WORKERS)]

    def configure(self, weight, has_guest):
        apps = {SHOP: {"retry": RETRY}, NEWS: {"retry": RETRY, "weight": weight}}
        if has_guest:
            apps[GUEST] = {"retry": RETRY}
        self.fleet.write_configuration(
            apps, CONNECTIONS, amqp={"url": self.amqp_url}, budget={"lease": "12s", "heartbeat": "1s"},
            worker={"max_connection_age": "5s"}, trail={"max_memory": "8MB"})

    def rabbitmqctl(self, command, wait=True):
        process = subprocess.Popen(
            ["bash", "-c", f"source {self.fleet.directory}/rabbitmq/env && rabbitmqctl --quiet {command}"],
            stdout=subprocess.DEVNULL)
        if wait and process.wait() != 0:
            raise Failed(f"rabbitmqctl {command.split()[0]} failed")
        return process

    def redis(self, *words):
        return machine.output("redis-cli", "-p", self.fleet.redis["port"], *words)

    # A round

    def messages(self, part, count):
        return max(1, round(count * part.share / part.tokens))

    def round(self, number, count):
        """Publishes one round's messages, disturbs, waits for rest, and verifies."""
        self.fleet.control("POST", "/reset", {})
        expected = {"0000": 0, "0503": 0, "0410": 0, "0413": 0, "expired": 0}
        for part in PARTS:
            messages = self.messages(part, count)
            refused = messages * part.retried // 100
            expected["0503"] += refused * part.tokens
            expected["expired" if part.is_expired else part.prefix] += (messages - refused) * part.tokens
        # One dead letter for each message of the last kind.
        dead = expected["0413"] + sum(self.messages(part, count) for part in PARTS if part.is_expired)
        for prefix, status, reason, most in (
                ("0503", 503, "ServiceUnavailable", expected["0503"]), ("0410", 410, "Unregistered", None),
                ("0413", 413, "PayloadTooLarge", None)):
            match = {"token_prefix": prefix, **({"max": most} if most else {})}
            self.fleet.control("POST", "/rules", {
                "match": match, "action": {"type": "answer", "status": status, "reason": reason}})
        disturbances = self.disturbances(number)
        running = []
        for index, part in enumerate(PARTS):
            # Spread over the round, each at its own place.
            for place, disturb in disturbances:
                if place == index:
                    running.append(disturb())
            self.floor.publish(
                messages=self.messages(part, count), tokens=part.tokens, app=part.app, lane=part.lane,
                prefix=part.prefix, retried_percent=part.retried,
                payload=self.expired if part.is_expired else self.payload)
        for process in running:
            if process and process.wait() != 0:
                raise Failed("a disturbance could not be made")
        self.wait(expected, dead)
        self.verify(number, expected, dead)
        return sum(expected.values())

    def disturbances(self, number):
        """What happens in this round: the part before which it happens, and what."""
        kind = number % PERIOD
        if kind == 2:
            return [(place, self.close_broker_connections) for place in (1, 5, 7)]
        if kind == 3:
            return [(1, lambda: self.change(2, False)), (6, lambda: self.change(1, True))]
        if kind == 0:
            return [(1, self.end_connections), (4, self.restart_redis), (7, self.end_connections)]
        return []

    def close_broker_connections(self):
        return self.rabbitmqctl("close_all_user_connections workers soak", wait=False)

    def change(self, weight, has_guest):
        self.configure(weight, has_guest)
        for worker in self.workers:
            worker.send_signal(signal.SIGHUP)

    def end_connections(self):
        self.fleet.control("POST", "/connections/goaway", {})

    def restart_redis(self):
        self.fleet.script("private-redis", "stop", self.fleet.directory / "redis")
        time.sleep(1)
        self.fleet.redis = self.fleet.script(
            "private-redis", "start", self.fleet.directory / "redis", "--die-with", os.getpid())

    # Rest

    def wait(self, expected, dead):
        """Until everything is where it must be, and nothing has moved for a while."""
        channel = self.fleet.channel()
        due = expected["0000"] + expected["0503"]
        last, moved = None, time.monotonic()
        while True:
            for worker in self.workers:
                if worker.poll() is not None:
                    raise Failed(f"a worker ended with status {worker.returncode}")
            summary = self.fleet.control("GET", "/ledger/summary")
            depths = {queue: self.fleet.depth(channel, queue) for queue in (*self.queues, "pushfleet.dead", "pushfleet.feedback")}
            left = sum(depths[queue] for queue in self.queues)
            state = (summary["requests"], tuple(depths.values()))
            if state != last:
                last, moved = state, time.monotonic()
            rest = time.monotonic() - moved
            is_complete = (left == 0 and summary["accepted"] - summary["duplicates"] >= due
                           and depths["pushfleet.dead"] >= dead and depths["pushfleet.feedback"] >= expected["0410"])
            if rest > (3 if is_complete else PATIENCE):
                break
            time.sleep(0.3)
        self.connections += summary["connections_opened"]
        self.depths = depths
        self.left = left
        for queue in ("pushfleet.dead", "pushfleet.feedback"):
            channel.queue_purge(queue)
        channel.connection.close()

    def verify(self, number, expected, dead):
        seen = {prefix: set() for prefix in ("0000", "0503", "0410", "0413")}
        accepted = 0
        for entry in self.fleet.ledger():
            token = entry["token"]
            # A retry is seen twice, and counts when it was taken.
            if entry["accepted"] or token[:4] in ("0410", "0413"):
                seen[token[:4]].add(token[4:40])
            accepted += entry["accepted"]
        lost = {prefix: expected[prefix] - len(tokens) for prefix, tokens in seen.items()}
        lost["dead letters"] = max(0, dead - self.depths["pushfleet.dead"])
        lost["feedback"] = max(0, expected["0410"] - self.depths["pushfleet.feedback"])
        self.duplicates += accepted - len(seen["0000"]) - len(seen["0503"])
        for name, count in lost.items():
            if count != 0:
                self.problems.append(f"round {number}: {count:,} lost ({name})")
                self.lost += abs(count)

    # Sampling

    def sample(self, number, sent):
        info = self.redis("INFO", "memory")
        keys = self.redis("--scan").splitlines()
        workers = []
        for process in self.workers:
            home = pathlib.Path(f"/proc/{process.pid}")
            workers.append({
                "rss_mb": machine.memory_mb(process.pid)[0],
                "descriptors": len(list((home / "fd").iterdir())),
                "threads": len(list((home / "task").iterdir())),
            })
        # What Redis remembers of messages that were interrupted goes after their age limit, and is looked at then.
        done = sum(key.startswith("pf:done:") for key in keys)
        # The trail grows until it has the memory that it may take, and has more keys or fewer as it goes.
        trail = sum(key.startswith("pf:{trail}:") for key in keys)
        sample = {
            "round": number, "notifications": sent,
            **{name: max(worker[name] for worker in workers) for name in workers[0]},
            "workers": workers, "redis_keys": len(keys) - done - trail, "redis_done_keys": done,
            "redis_mb": int(dict(line.split(":", 1) for line in info.splitlines() if ":" in line)["used_memory"]) / 2**20,
            "left": self.left, "lost": self.lost, "duplicates": self.duplicates,
        }
        self.samples.append(sample)
        return sample

    def settle(self):
        """Waits until Redis has forgotten the last interrupted message."""
        deadline = time.monotonic() + AGE_LIMIT + 20
        while time.monotonic() < deadline:
            sample = self.sample(self.samples[-1]["round"], self.samples[-1]["notifications"])
            self.samples.pop()
            if sample["redis_done_keys"] == 0:
                return
            time.sleep(2)
        self.problems.append(f"{sample['redis_done_keys']} keys of finished messages are left in Redis")

    def happenings(self):
        """What the workers went through."""
        text = "".join(
            (self.fleet.directory / f"worker-{number + 1}.log").read_text(errors="replace") for number in range(WORKERS))
        counts = {name: text.count(line) for name, line in HAPPENINGS.items()}
        lanes = json.loads(self.fleet.run("status", "--json"))["lanes"]
        counts["connections to Apple"] = self.connections
        for counter in ("redelivered", "retried", "possible_duplicates"):
            counts[counter.replace("_", " ")] = sum(lane["counters"][counter] for lane in lanes)
        self.problems += [
            f"{name}: none, so that this was not tried" for name, count in counts.items()
            if count == 0 and name not in ("possible duplicates", "deliveries voided")]
        if self.duplicates > counts["possible duplicates"]:
            self.problems.append(f"{self.duplicates:,} pushes came twice, and the workers reported fewer as possible")
        return counts

    def judge(self):
        """Rows of what was compared; what grew goes to the problems."""
        warm_up = -(-len(self.samples) // (4 * PERIOD)) * PERIOD
        before, after = self.samples[warm_up:warm_up + PERIOD], self.samples[-PERIOD:]
        rows = []
        for growth in GROWTHS:
            first, last = (max(sample[growth.name] for sample in window) for window in (before, after))
            limit = 0 if growth.name == "left" else growth.limit(first)
            has_grown = last > limit
            if has_grown:
                self.problems.append(f"{growth.title}: {last:,.{growth.digits}f}, after {first:,.{growth.digits}f}")
            rows.append([growth.title, *(f"{value:,.{growth.digits}f}" for value in (first, last, limit)),
                         "GROWN" if has_grown else "ok"])
        title = f"rounds {before[0]['round']}–{before[-1]['round']}"
        return table(["the most at rest", title, f"{after[0]['round']}–{after[-1]['round']}", "may be", ""], rows)


def sample_table(samples):
    rows = [[
        str(sample["round"]), f"{sample['notifications']:,}", f"{sample['rss_mb']:.1f}", str(sample["descriptors"]),
        str(sample["threads"]), str(sample["redis_keys"]), str(sample["redis_done_keys"]), f"{sample['redis_mb']:.2f}",
        str(sample["left"]), str(sample["lost"]), str(sample["duplicates"])] for sample in samples]
    return table(
        ["round", "notifications", "RSS MB", "fds", "threads", "Redis keys", "(done)", "Redis MB", "left", "lost",
         "duplicates"], rows)


def live(options, rounds, keep):
    """All rounds, and what has grown in them."""
    binary = (options.binary or build()).absolute()
    refuse_debug(binary)
    about = machine.describe(binary)
    print("  ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    began = time.monotonic()
    fleet = Fleet("soak", binary)
    keep(fleet)
    soak = Soak(fleet)
    soak.start()
    sent = 0
    for number in range(1, rounds + 1):
        sent += soak.round(number, options.notifications // rounds)
        sample = soak.sample(number, sent)
        say(f"round {number} of {rounds}, {time.monotonic() - began:.0f} s: {sent:,} notifications, "
            f"RSS {sample['rss_mb']:.1f} MB, {sample['descriptors']} descriptors, {sample['threads']} threads, Redis "
            f"{sample['redis_keys']} + {sample['redis_done_keys']} keys and {sample['redis_mb']:.2f} MB, "
            f"left {sample['left']}, lost {sample['lost']}, twice {sample['duplicates']}")
        if soak.lost:
            break
    say("Waiting for Redis to forget what was interrupted …")
    soak.settle()
    print(sample_table(soak.samples))
    if len(soak.samples) == rounds:
        print("\n" + soak.judge())
        happenings = soak.happenings()
        print("\nthe workers saw: " + ", ".join(f"{count:,} {name}" for name, count in happenings.items()))
    seconds = time.monotonic() - began
    print(f"\n{sent:,} notifications in {seconds:.0f} seconds")
    for problem in soak.problems:
        print(f"PROBLEM: {problem}")
    print("FAIL" if soak.problems else "PASS: nothing was lost and nothing has grown")
    if options.json:
        options.json.write_text(json.dumps({
            "machine": about, "seconds": seconds, "notifications": sent, "samples": soak.samples,
            "problems": soak.problems}, indent=1) + "\n")
    return 1 if soak.problems else 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", add_help=False)
    parser.add_argument("--notifications", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--binary", type=pathlib.Path)
    options = parser.parse_args()
    if not 100_000 <= options.notifications <= 1_000_000_000:
        parser.error("--notifications must be 100,000 to 1,000,000,000")
    rounds = options.rounds or max(12, -(-options.notifications // (250_000 * PERIOD)) * PERIOD)
    if rounds < 12 or rounds % PERIOD != 0 or options.notifications // rounds > 1_000_000:
        parser.error(f"--rounds must be a multiple of {PERIOD}, at least 12, and a round a million at most")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no directory {options.json.parent}")

    return run_script("soak", lambda keep: live(options, rounds, keep))


if __name__ == "__main__":
    sys.exit(main())
