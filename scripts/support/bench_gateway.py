"""The benchmark behind scripts/bench-gateway: what a gateway's calls cost, beside a plain route of the same server."""

import argparse
import base64
import datetime
import hashlib
import hmac
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import machine
from fleet import Failed, Fleet, cpu_microseconds, run_script, say
from floor import Floor
from release import build, refuse_debug
from report import Report, add_json_option, check_json_option
from table import table

REGION, ACCOUNT, KEY, SECRET = "eu-west-1", "123456789012", "AKIABENCH", "bench-secret"
PLATFORM, NAME = "APNS_SANDBOX", "Bench"
ARN = f"arn:aws:sns:{REGION}:{ACCOUNT}"
APPLICATION = f"{ARN}:app/{PLATFORM}/{NAME}"
APP = f"sns.apns-sandbox.{NAME}"
TOPIC = f"{ARN}:all"
CONNECTIONS, CALLS, GOAL = 16, 20_000, 2
PLACE, TOKEN = "#" * 32, "#" * 64
PARTS = ["cost", "topic", "endpoints"]


def endpoint_id(number):
    """Of the endpoint whose token is this number; the gateway derives it in the same way."""
    name = f"{PLATFORM}/{NAME}|{number:064x}|0"
    return str(uuid.UUID(bytes=hashlib.md5(name.encode()).digest(), version=3))


def endpoint_arn(identifier):
    return f"{ARN}:endpoint/{PLATFORM}/{NAME}/{identifier}"


def form(action, **parameters):
    return urllib.parse.urlencode({"Action": action, "Version": "2010-03-31", **parameters}, safe="#")


def attributes(**values):
    pairs = {}
    for number, (name, value) in enumerate(values.items(), 1):
        pairs[f"Attributes.entry.{number}.key"], pairs[f"Attributes.entry.{number}.value"] = name, value
    return pairs


def signature(body, host, now):
    """AWS Signature Version 4, over what botocore signs."""
    moment, date = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    scope, signed = f"{date}/{REGION}/sns/aws4_request", "content-type;host;x-amz-date"
    digest = hashlib.sha256(body.encode()).hexdigest()
    canonical = (f"POST\n/\n\ncontent-type:application/x-www-form-urlencoded; charset=utf-8\nhost:{host}\n"
                 f"x-amz-date:{moment}\n\n{signed}\n{digest}")
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{SECRET}".encode()
    for part in (date, REGION, "sns", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return moment, f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={signed}, Signature={key.hex()}"


class GatewayBench:
    """A gateway, and what is asked of it."""

    def __init__(self, fleet, floor, options):
        self.fleet, self.floor, self.options = fleet, floor, options
        self.warnings = []
        self.registered = 0

    def warn(self, text):
        if text not in self.warnings:
            self.warnings.append(text)
            say(f"  WARNING: {text}")

    def settle(self):
        if not machine.wait_until_quiet():
            self.warn("the machine did not come to rest before a measurement")

    # Servers

    def start(self, echo):
        directory, certs = self.fleet.directory, self.fleet.certs
        master = directory / "master-key"
        master.write_text(base64.b64encode(os.urandom(32)).decode())
        master.chmod(0o600)
        self.fleet.write_configuration(
            {}, 1, credentials={}, redis={"url": self.fleet.redis_url, "master_key_file": str(master)},
            gateway={
                "region": REGION, "account": ACCOUNT, "anonymous": "local-use-only", "apns_host": "localhost",
                "apns_port": self.fleet.apns_port, "apns_ca_file": str(certs / "ca.pem"), "apns_connections": 1},
            access_keys={"bench": {"id": KEY, "secret": SECRET}})
        self.gateway, self.port = self.serve(
            "gateway", "gateway", "--config", self.fleet.configuration, "--port", 0)
        self.echo, self.echo_port = self.serve("echo", program=echo)
        deadline = time.monotonic() + 60
        while self.get("/readyz")[0] != 200:
            if time.monotonic() > deadline:
                raise Failed("the gateway does not become ready")
            time.sleep(0.1)
        self.call("CreatePlatformApplication", Name=NAME, Platform=PLATFORM, **attributes(
            PlatformPrincipal=self.fleet.key_id, PlatformCredential=(certs / "auth.p8").read_text(),
            ApplePlatformTeamID=self.fleet.team_id, ApplePlatformBundleID="com.example.shop"))
        self.call("CreateTopic", Name="all")

    def serve(self, name, *arguments, program=None):
        process = self.fleet.spawn(name, *arguments, program=program, stdout=subprocess.PIPE)
        line = process.stdout.readline().decode()
        if not line.startswith("port="):
            raise Failed(f"{name} did not start, see its log")
        return process, int(line[5:])

    # Asking

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def call(self, action, **parameters):
        body = form(action, **parameters)
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/", data=body.encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Failed(f"{action}: {error.read().decode()}") from error

    def request(self, body="", path="", is_signed=False):
        """A file with a request, for the client in C."""
        host = "localhost:9911"
        if path:
            lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
        else:
            lines = ["POST / HTTP/1.1", f"Host: {host}", "Accept-Encoding: identity",
                     "Content-Type: application/x-www-form-urlencoded; charset=utf-8",
                     "User-Agent: Boto3/1.43.11 md/Botocore#1.43.11 ua/2.1 os/linux lang/python#3.13.5"]
        if is_signed:
            moment, authorization = signature(body, host, datetime.datetime.now(datetime.UTC))
            lines += [f"X-Amz-Date: {moment}", f"Authorization: {authorization}",
                      f"amz-sdk-invocation-id: 00000000-{PLACE}", "amz-sdk-request: attempt=1"]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        file = self.fleet.directory / "request.http"
        file.write_text("\r\n".join([*lines, "", body]))
        return file

    def ask(self, requests, file, port=None, connections=CONNECTIONS, **more):
        return self.floor.run(
            "http", port=port or self.port, requests=requests, connections=connections, request=file, **more)

    # Registering

    def register(self, upto):
        """Endpoints up to a number; returns what that took, or nothing if they were there."""
        if upto <= self.registered:
            return None
        body = form("CreatePlatformEndpoint", PlatformApplicationArn=APPLICATION, Token=TOKEN)
        done = self.ask(upto - self.registered, self.request(body), connections=64, first=self.registered)
        self.registered = upto
        return done

    def values(self, identifiers):
        file = self.fleet.directory / "values"
        file.write_text("".join(f"{each}\n" for each in identifiers))
        return file

    def redis(self, *words):
        return machine.output("redis-cli", "-p", self.fleet.redis["port"], *words)

    def redis_bytes(self):
        return int(re.search(r"used_memory:(\d+)", self.redis("INFO", "memory"))[1])

    # Parts

    def measure_cost(self):
        """A Publish and a plain route, in turns, with the same bytes."""
        say("a publish …")
        self.register(1)
        message = json.dumps({PLATFORM: json.dumps({"aps": {"alert": {
            "title": "Order", "body": "It is on its way. " * 6}, "sound": "default"}}), "default": "x"})
        body = form("Publish", TargetArn=endpoint_arn(endpoint_id(0)), Message=message, MessageStructure="json")
        servers = {"echo": (self.echo, self.echo_port), "publish": (self.gateway, self.port)}
        helpers = {"redis": int(self.fleet.redis["pid"]), "broker": int(self.fleet.rabbitmq["pid"])}
        runs = {name: [] for name in servers}
        number = 0
        for _ in range(self.options.runs):
            for name, (process, port) in servers.items():
                file = self.request(body, is_signed=True)
                self.ask(1000, file, port, first=number)
                self.settle()
                watch = machine.Watch([process.pid, *helpers.values(), os.getpid()])
                cpu = cpu_microseconds(process.pid)
                done = self.ask(CALLS, file, port, first=number + 1000)
                cpu = cpu_microseconds(process.pid) - cpu
                number += CALLS + 1000
                if (others := watch.others()) > 0.1 * os.cpu_count():
                    self.warn(f"other processes took {others:.2f} of a core during '{name}'")
                runs[name].append({
                    "cpu_us": cpu / CALLS, "per_second": CALLS / done["seconds"],
                    "p50_ms": done["p50_ms"], "p99_ms": done["p99_ms"],
                    **{f"{each}_us": watch.used(pid) * 1e6 / CALLS for each, pid in helpers.items()}})
                say(f"  {name}: {cpu / CALLS:.1f} µs of CPU, {CALLS / done['seconds']:,.0f} per second")
            self.purge()
        result = {name: {key: statistics.median(run[key] for run in each) for key in each[0]} | {"runs": each}
                  for name, each in runs.items()}
        result["added"] = result["publish"]["cpu_us"] / result["echo"]["cpu_us"] - 1
        result["goal"] = GOAL
        rows = [[label, *(f"{result[name][key]:,.{digits}f}" for key, digits in (
            ("cpu_us", 1), ("per_second", 0), ("p50_ms", 2), ("p99_ms", 2), ("redis_us", 1), ("broker_us", 1)))]
            for label, name in (("plain route", "echo"), ("Publish", "publish"))]
        print(table(["call", "µs", "per second", "p50 ms", "p99 ms", "Redis µs", "RabbitMQ µs"], rows))
        print(f"\n  the gateway adds {result['added']:.2f} times what the plain route costs; the goal is below {GOAL}\n",
              flush=True)
        return result

    def purge(self):
        channel = self.fleet.channel()
        for lane in ("now", "bulk"):
            channel.queue_purge(f"pushfleet.{APP}.{lane}")
        channel.connection.close()

    def fanned_out(self):
        found = re.search(r"^pushfleet_gateway_fanout_tokens_total (\d+)", self.get("/metrics")[1], re.M)
        return int(found[1])

    def measure_topic(self):
        count = self.options.subscribers
        say(f"a topic of {count:,} …")
        self.register(count)
        file = self.values(endpoint_id(number) for number in range(count))
        body = form("Subscribe", TopicArn=TOPIC, Protocol="application", Endpoint=endpoint_arn("#" * 36))
        subscribed = self.ask(count, self.request(body), connections=64, values=file)
        self.settle()
        body = form("Publish", TopicArn=TOPIC, Message="It is on its way.")
        # The first look at a topic is not another one's.
        answers, rates, before = [], [], self.fanned_out()
        for _ in range(3):
            self.purge()
            self.settle()
            cpu, began = cpu_microseconds(self.gateway.pid), time.monotonic()
            answers.append(self.ask(1, self.request(body, is_signed=True), first=time.time_ns())["max_ms"])
            before += count
            while self.fanned_out() < before:
                if time.monotonic() - began > 120:
                    raise Failed("the fan-out does not come to an end")
                time.sleep(0.02)
            rates.append((count / (time.monotonic() - began), (cpu_microseconds(self.gateway.pid) - cpu) / count))
        # The last one's messages are still there, for a worker.
        self.fleet.control("POST", "/reset", {})
        self.fleet.start_worker(1)
        deadline = time.monotonic() + 180
        while self.fleet.control("GET", "/ledger/summary")["requests"] < count:
            if time.monotonic() > deadline:
                break
            time.sleep(0.2)
        time.sleep(2)
        tokens = [entry["token"] for entry in self.fleet.ledger()]
        result = {
            "subscribers": count, "answer_ms": answers, "per_second": statistics.median(rate for rate, _ in rates),
            "cpu_us": statistics.median(cpu for _, cpu in rates), "pushes": len(tokens), "devices": len(set(tokens)),
            "subscribed_per_second": count / subscribed["seconds"]}
        print(table(
            ["a topic", "answered ms", "fanned out per second", "µs per device", "pushes", "devices"],
            [[f"{count:,} subscribers", "/".join(f"{each:.1f}" for each in answers), f"{result['per_second']:,.0f}",
              f"{result['cpu_us']:.2f}", f"{len(tokens):,}", f"{result['devices']:,}"]]) + "\n", flush=True)
        return result

    def lookups(self, among):
        """Milliseconds of one call after the other, on one connection."""
        numbers = [number * 7919 % among for number in range(2000)]
        by_arn = self.request(form("GetEndpointAttributes", EndpointArn=endpoint_arn("#" * 36)))
        arn = self.ask(2000, by_arn, connections=1, values=self.values(endpoint_id(number) for number in numbers))
        path = f"/pushfleet/endpoints?application={urllib.parse.quote(APPLICATION)}&token={TOKEN}"
        by_token = self.request(path=path)
        token = self.ask(2000, by_token, connections=1, values=self.values(f"{number:064x}" for number in numbers))
        page = self.request(form("ListEndpointsByPlatformApplication", PlatformApplicationArn=APPLICATION))
        pages = self.ask(200, page, connections=1)
        return {"arn_ms": arn["p50_ms"], "token_ms": token["p50_ms"], "page_ms": pages["p50_ms"]}

    def measure_endpoints(self):
        count = self.options.endpoints
        say(f"{count:,} endpoints …")
        empty, already = self.redis_bytes(), self.registered
        rows, steps = [], []
        for upto in sorted({max(self.registered, count // 100), count}):
            done = self.register(upto)
            self.settle()
            step = {"endpoints": self.registered, **self.lookups(self.registered)}
            if done:
                step |= {"per_second": done["count"] / done["seconds"], "p50_ms": done["p50_ms"]}
            steps.append(step)
            rows.append([f"{self.registered:,} endpoints", *(f"{step[key]:.2f}" for key in (
                "arn_ms", "token_ms", "page_ms")), f"{step.get('per_second', 0):,.0f}"])
        bytes_each = (self.redis_bytes() - empty) / max(1, self.registered - already)
        print(table(["look-ups, one after the other", "by ARN ms", "by token ms", "page of 100 ms",
                     "registered per second"], rows))
        print(f"\n  {bytes_each:.0f} bytes of Redis for an endpoint\n", flush=True)
        return {"steps": steps, "bytes": bytes_each}


def measure_all(options, wanted, keep):
    binary = (options.binary or build(PUSHFLEET_ECHO="1")).absolute()
    refuse_debug(binary)
    echo = build("EchoRoute", PUSHFLEET_ECHO="1")
    report = Report(binary)
    results = report.results
    fleet = Fleet("bench", binary)
    keep(fleet)
    bench = GatewayBench(fleet, Floor(fleet), options)
    if not machine.wait_until_quiet(3, 0.1):
        bench.warn("the machine is busy with something else; the numbers will be worse than they should")
    fleet.start_servers()
    fleet.start_simulator("--ledger-limit", 2_000_000)
    bench.start(echo)
    for part in wanted:
        results[part] = getattr(bench, f"measure_{part}")()
    report.end(bench.warnings, options.json)
    topic = results.get("topic")
    if topic and (topic["pushes"] != topic["subscribers"] or topic["devices"] != topic["subscribers"]):
        say("bench-gateway: not everybody got one push")
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-gateway", add_help=False)
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--endpoints", type=int, default=1_000_000)
    parser.add_argument("--subscribers", type=int, default=100_000)
    parser.add_argument("--only", action="append", default=[])
    add_json_option(parser)
    options = parser.parse_args()
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"--only {unknown.pop()}: it must be one of {', '.join(PARTS)}")
    check_json_option(parser, options)
    if options.runs < 1 or options.endpoints < 100 or options.subscribers < 1:
        parser.error("--runs and --subscribers must be 1 at least, --endpoints 100")
    wanted = [part for part in PARTS if part in (options.only or PARTS)]
    return run_script("bench-gateway", lambda keep: measure_all(options, wanted, keep))


sys.exit(main())
