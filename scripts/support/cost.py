"""The guard behind scripts/cost: instructions and allocations of a worker for one notification, by callgrind."""

import argparse
import asyncio
import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import machine
from fleet import ROOT, Failed, say
from peers import PeerFailure, Peers
from release import build
from table import table

THRESHOLDS = pathlib.Path(__file__).with_name("cost.json")
APP = "com.example.shop"
QUEUE = f"pushfleet.{APP}.now"
SLACK = 8  # percent: what libraries choose by the processor cannot all be fixed
METRICS = {"instructions": 0, "allocations": 2}  # and their digits
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
PATIENCE = 120

# The same machine code on all processors of an architecture: what libraries choose by the processor is held to what
# every one of them has; and Swift's hash tables look the same every time.
FIXED = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-RTM,"
                      "-BMI2,-LZCNT,-MOVBE",
    "OPENSSL_ia32cap": "~0x1000000000000000:0x0",
    "SWIFT_DETERMINISTIC_HASHING": "1",
}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    batches: int  # of the shorter of two runs; the longer has twice as many
    messages: int  # in a batch
    tokens: int = 1
    payload: int = 200
    refused_each: int = 0  # every so many-th push is answered 503 and goes on as a copy

    @property
    def notifications(self):
        return self.batches * self.messages * self.tokens


CASES = [
    Case("one token", batches=25, messages=80),
    Case("100 tokens", batches=5, messages=4, tokens=100),
    Case("50 % retries", batches=20, messages=80, refused_each=2),
    Case("4 KB payload", batches=25, messages=60, payload=4000),
]


def token(number, place):
    """As Apple's are: digits without a pattern, but the same on every run."""
    return hashlib.sha256(f"{number}.{place}".encode()).hexdigest()


def bodies(case, batches):
    """Messages of the fleet's contract: (message id, body, tokens), in batches. The first is one message alone."""
    alert = {"title": "Order", "body": ""}
    payload = {"aps": {"alert": alert, "sound": "default"}}
    alert["body"] = ("It is on its way. " * (case.payload // 18 + 1))[:case.payload - len(json.dumps(payload))]
    text = json.dumps(payload, separators=(",", ":"))
    number = 0

    def message():
        nonlocal number
        number += 1
        tokens = ",".join(f'"{token(number, place)}"' for place in range(case.tokens))
        body = f'{{"app":"{APP}","tokens":[{tokens}],"payload":{text}}}'
        return f"cost-{number:08}", body.encode(), case.tokens

    return [[message()]] + [[message() for _ in range(case.messages)] for _ in range(batches)]


# Measuring

def parse(path):
    """The instructions of all threads, the calls of each function, and its own instructions."""
    names, calls, own = {}, collections.Counter(), collections.Counter()
    total, function, called, is_call = 0, "", "", False

    def name(text):
        number, _, rest = text.partition(" ")
        if rest:
            names[number] = rest
        return names[number]

    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("fn="):
                function = name(line[3:].rstrip("\n"))
            elif line.startswith("cfn="):
                called = name(line[4:].rstrip("\n"))
            elif line.startswith("calls="):
                calls[called] += int(line[6:].split()[0])
                is_call = True
            elif line[0].isdigit() or line[0] in "+-*":
                if not is_call:
                    own[function] += int(line.split()[1])
                is_call = False
            elif line.startswith(("totals:", "summary:")):
                total = max(total, int(line.split()[1]))
    return total, calls, own


class Meter:
    """Runs the worker between its peers, under callgrind."""

    def __init__(self, binary, directory):
        self.binary = binary
        self.directory = directory
        self.certificates = directory / "certs"
        subprocess.run([ROOT / "scripts/make-certs", self.certificates], check=True, stdout=subprocess.DEVNULL)
        started = subprocess.run(
            [ROOT / "scripts/private-redis", "start", directory / "redis", "--volatile", "--die-with", str(os.getpid())],
            stdout=subprocess.PIPE, text=True, check=True)
        self.redis = re.search(r"^port=(\d+)", started.stdout, re.M).group(1)

    def close(self):
        subprocess.run([ROOT / "scripts/private-redis", "stop", self.directory / "redis"], check=False,
                       stdout=subprocess.DEVNULL)

    def run(self, case, batches):
        subprocess.run(["redis-cli", "-p", self.redis, "FLUSHALL"], check=True, stdout=subprocess.DEVNULL)
        return asyncio.run(self.live(case, batches))

    async def live(self, case, batches):
        out = self.directory / "callgrind.out"
        out.unlink(missing_ok=True)
        async with Peers(bodies(case, batches), QUEUE, self.certificates, case.refused_each) as peers:
            process = await asyncio.create_subprocess_exec(
                "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet",
                self.binary, str(peers.amqp_port), self.redis, str(peers.apns_port), self.certificates,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, **FIXED})
            try:
                reading = asyncio.create_task(process.stdout.read())
                await asyncio.wait([peers.work.done, reading], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
                if peers.work.done.done():
                    peers.work.done.result()
                process.stdin.close()
                if not peers.work.done.done() and not reading.done():
                    process.kill()
                said = (await reading).decode(errors="replace").strip()
                status = await process.wait()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if not peers.work.done.done() or status != 0:
            raise Failed(f"the worker ended with status {status} after {peers.work.answered} of "
                         f"{peers.work.requests} answers\n{said}")
        expected = 1 + batches * case.messages
        copies = expected * case.tokens // case.refused_each if case.refused_each else 0
        if peers.work.answered != (expected * case.tokens) or peers.work.copies != copies:
            raise Failed(f"{case.name}: {peers.work.answered} pushes and {peers.work.copies} copies of {expected} "
                         f"messages; {expected * case.tokens} and {copies} were due")
        return parse(out)

    def measure(self, case):
        """For one notification: the difference of two runs, so that start and end of the process do not count."""
        (total, calls, own), (total2, calls2, own2) = (self.run(case, case.batches * times) for times in (1, 2))
        allocations = sum(calls2[name] - calls[name] for name in ALLOCATORS)
        own2.subtract(own)
        return {
            "instructions": round((total2 - total) / case.notifications),
            "allocations": round(allocations / case.notifications, 2),
            "notifications": case.notifications,
        }, {name: count / case.notifications for name, count in own2.items()}


# Judging

def thresholds(path):
    try:
        values = json.loads(path.read_text())
        return values["slack_percent"], values["architectures"], values
    except (OSError, ValueError) as error:
        raise Failed(f"{path}: {error}") from error
    except (KeyError, TypeError) as error:
        raise Failed(f"{path} holds no thresholds; scripts/support/cost.json shows their form") from error


def judge(measured, limits, slack):
    """What is above its threshold, and what is so far below that the threshold should follow; as sentences."""
    above, below = [], []
    for name, values in measured.items():
        for metric in METRICS:
            limit = limits.get(name, {}).get(metric)
            if limit is None:
                above.append(f"{name}: there is no threshold for {metric}")
                continue
            value, change = values[metric], 100 * (values[metric] / limit - 1) if limit else 0
            # How deliveries fall into turns moves allocations by a tenth or two.
            tolerance = limit * slack / 100 + (0.2 if metric == "allocations" else 0)
            if value > limit + tolerance:
                above.append(f"{name}: {value:,} {metric} per notification, {change:.1f} % above {limit:,}")
            elif value < limit - tolerance:
                below.append(f"{name}: {value:,} {metric} per notification, {-change:.1f} % below {limit:,}")
    return above, below


def cost_table(measured, limits):
    rows = []
    for name, values in measured.items():
        row = [name]
        for metric, digits in METRICS.items():
            limit = limits.get(name, {}).get(metric)
            row += [f"{values[metric]:,.{digits}f}", f"{limit:,.{digits}f}" if limit is not None else "",
                    f"{100 * (values[metric] / limit - 1):+.1f} %" if limit else ""]
        rows.append(row)
    return table(["case", "instructions", "threshold", "", "allocations", "threshold", ""], rows)


def main():
    parser = argparse.ArgumentParser(prog="scripts/cost", add_help=False)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--thresholds", type=pathlib.Path, default=THRESHOLDS)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--profile", type=int, nargs="?", const=25, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    names = [case.name for case in CASES]
    if unknown := set(options.only) - set(names):
        parser.error(f"--only {unknown.pop()!r}: it must be one of {', '.join(names)}")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no directory {options.json.parent}")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    directory, meter = pathlib.Path(tempfile.mkdtemp(prefix="pushfleet-cost-")), None
    try:
        slack, architectures, everything = thresholds(options.thresholds)
        architecture = platform.machine()
        known = architectures.get(architecture, {})
        limits = known.get("cases", {})
        binary = build("PathCost", PUSHFLEET_COST="1")
        meter = Meter(binary, directory)
        measured, profiles = {}, {}
        for case in CASES:
            if options.only and case.name not in options.only:
                continue
            say(f"{case.name} …")
            measured[case.name], profiles[case.name] = meter.measure(case)
        print(f"one notification, {architecture}, Swift {swift_version()}; thresholds made with Swift "
              f"{known.get('swift', 'none')}")
        print(cost_table(measured, limits))
        for name, profile in profiles.items() if options.profile else []:
            print(f"\n{name}: instructions of each function itself")
            for function, count in sorted(profile.items(), key=lambda each: -each[1])[:options.profile]:
                print(f"  {count:9,.0f}  {demangle(function)}")
        if options.json:
            options.json.write_text(json.dumps(
                {"architecture": architecture, "swift": swift_version(), "cases": measured}, indent=1) + "\n")
        if options.update:
            kept = {name: {metric: values[metric] for metric in METRICS} for name, values in measured.items()}
            architectures[architecture] = {"swift": swift_version(), "cases": {**limits, **kept}}
            options.thresholds.write_text(json.dumps(everything, indent=1) + "\n")
            print(f"written to {options.thresholds}")
            return 0
        if not known:
            print(f"There are no thresholds for {architecture}; scripts/cost --update makes them.")
            return 0
        above, below = judge(measured, limits, slack)
        for line in below:
            print(f"better: {line}")
        if below:
            print("Keep it so: scripts/cost --update, and commit the file.")
        for line in above:
            print(f"ABOVE: {line}")
        if above:
            print(f"More than {slack} % above is a failure. scripts/cost --profile shows where it goes; if it is worth it, "
                  "scripts/cost --update, and say why in the commit.")
        return 1 if above else 0
    except (Failed, PeerFailure) as failure:
        say(f"cost: {failure}")
        return 2
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"cost: {error}")
        return 2
    except KeyboardInterrupt:
        say("cost: interrupted")
        return 130
    finally:
        if meter:
            meter.close()
        shutil.rmtree(directory, ignore_errors=True)


def swift_version():
    found = re.search(r"Swift version (\S+)", machine.output("swift", "--version"))
    return found.group(1) if found else "unknown"


def demangle(name):
    text = machine.output("swift", "demangle", "--compact", "--simplified", name) if "$s" in name else name
    return text[:110]


sys.exit(main())
