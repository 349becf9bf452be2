"""The floor: what the C libraries alone cost for the same work, by the programs in the directory `floor`.

Each is told what to do and measures itself, from its first request to its last answer, without its start.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess

from fleet import Failed

SOURCES = pathlib.Path(__file__).parent / "floor"
PROGRAMS = {
    "requests": ["nghttp2", "ssl", "crypto"], "consume": ["rabbitmq"], "publish": ["rabbitmq"], "redis": ["hiredis"],
    "http": [],
}


class Floor:
    """The compiled programs, against the servers of a fleet."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.directory = fleet.directory / "floor"
        self.directory.mkdir()
        # The Swift toolchain brings clang.
        compiler = os.environ.get("CC") or shutil.which("cc") or "clang"
        for name, libraries in PROGRAMS.items():
            command = [
                compiler, "-std=gnu17", "-O2", "-Wall", "-Wextra", "-o", self.directory / name,
                SOURCES / f"{name}.c", *(f"-l{library}" for library in libraries)]
            if subprocess.run(command, check=False).returncode != 0:
                raise Failed(f"{name}.c cannot be compiled; scripts/install installs the libraries it needs")

    def command(self, name, options):
        words = [self.directory / name]
        for option, value in options.items():
            words += ["--" + option.replace("_", "-"), str(value)]
        return words

    def run(self, name, **options):
        """Runs a program and returns its count, cpu_us and seconds."""
        done = subprocess.run(self.command(name, options), stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"the floor's {name} failed")
        return json.loads(done.stdout)

    def publish(self, **options):
        return self.run("publish", port=self.fleet.rabbitmq["port"], **options)

    def consume(self, queue, messages, prefetch):
        return self.run(
            "consume", port=self.fleet.rabbitmq["port"], queue=queue, messages=messages, prefetch=prefetch)

    def requests(self, requests, connections, in_flight, topic, payload, refused_percent=0):
        return self.run(
            "requests", port=self.fleet.apns_port, ca=self.fleet.certs / "ca.pem", requests=requests,
            connections=connections, in_flight=in_flight, topic=topic, payload=payload,
            authorization=self.authorization(), refused_percent=refused_percent)

    def redis(self, commands, batch):
        return self.run("redis", port=self.fleet.redis["port"], commands=commands, batch=batch)

    def authorization(self):
        token = subprocess.run(
            [SOURCES.parent / "provider-token", self.fleet.certs / "auth.p8", self.fleet.key_id, self.fleet.team_id],
            stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        return f"bearer {token}"

    def h2load(self, requests, connections, in_flight, topic, payload):
        """The same requests by h2load, a cross-check: it sends one path and no apns-id, and its start is counted."""
        before = os.times()
        done = subprocess.run(
            ["h2load", "-n", str(requests), "-c", str(connections), "-m", str(in_flight), "-d", payload, "-H",
             f"authorization: {self.authorization()}", "-H", f"apns-topic: {topic}", "-H", "apns-push-type: alert",
             "-H", "apns-priority: 10", f"https://localhost:{self.fleet.apns_port}/3/device/{'00' * 32}"],
            stdout=subprocess.PIPE, text=True, check=False)
        after = os.times()
        succeeded = int((re.search(r"(\d+) succeeded", done.stdout) or [0, 0])[1])
        # On many connections at once it loses a few of its first requests.
        if done.returncode != 0 or succeeded < 0.99 * requests:
            raise Failed(f"h2load failed:\n{done.stdout}")
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return cpu * 1e6 / succeeded


def per(measurements):
    """The median cost of one, in microseconds."""
    return statistics.median(each["cpu_us"] / each["count"] for each in measurements)
