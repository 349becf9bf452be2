"""The benchmark behind scripts/bench: what one notification costs a worker, beside what the C libraries alone cost."""

import argparse
import pathlib
import sys

import machine
from fleet import Fleet, run_script, say
from floor import Floor
from measure import APP, PREFETCH, Bench, Case
from release import build, refuse_debug
from report import Report, add_json_option, check_json_option
from table import table

# The numbers of messages make a run of two to four seconds on two slow cores.
MAIN = [
    Case("one token per message", messages=100_000, goal=1.5),
    Case("100 tokens per message", messages=3_000, tokens=100, goal=1.3),
    Case("50 % retries", messages=40_000, retried=50, goal=2),
]


def tokens_case(tokens):
    return Case(f"{tokens} tokens per message", messages=max(300, min(60_000, 200_000 // tokens)), tokens=tokens)


CURVES = {
    "tokens": [tokens_case(tokens) for tokens in (1, 10, 100, 1000)],
    "payload": [Case(f"{size} bytes of payload", messages=50_000, payload=size) for size in (200, 4000)],
    "loops": [Case(f"{loops} loops", messages=80_000, loops=loops, connections=loops) for loops in (1, 2)],
    "workers": [
        Case(f"{count} workers", messages=80_000, workers=count, connections=count) for count in (1, 2, 4)],
    "apps": [Case(f"{apps} apps", messages=50_000, apps=apps) for apps in (1, 10, 100)],
    "connections": [
        Case(f"{count} connections, 40 ms", messages=50_000, connections=count, latency=40, streams_per_connection=100)
        for count in (1, 4, 16)],
    "backlog": [
        Case(f"backlog of {count:,}", messages=count, bursts=20 if count == 1000 else 0)
        for count in (1000, 10_000, 100_000, 1_000_000)],
    "retries": [Case(f"{share} % retries", messages=40_000, retried=share) for share in (0, 5, 50)],
    "latency": [Case(f"answers after {ms} ms", messages=40_000, connections=2, latency=ms) for ms in (0, 40, 150)],
}
PEERS = [
    Case("Python, aio-pika and aioapns", messages=5_000),
    Case("the same, 100 tokens per message", messages=50, tokens=100),
]
# Curves where the floor moves with what is varied.
WITH_FLOOR = {"tokens", "payload", "connections", "retries"}


def cost_table(results):
    rows = []
    for result in results:
        floor, runs = result.get("floor"), [run["cpu_us"] for run in result["runs"]]
        goal = result["case"]["goal"]
        rows.append([
            result["case"]["name"], f"{result['cpu_us']:.2f}",
            f"{min(runs):.2f}–{max(runs):.2f}" if len(runs) > 1 else "",
            f"{floor['sum']:.2f}" if floor else "", f"{result['ratio']:.2f}" if floor else "", str(goal or ""),
            f"{result['per_second']:,.0f}", f"{result['rss_mb']:.0f}", f"{result['broker_us']:.1f}",
            f"{result['simulator_us']:.1f}"])
    return table(
        ["case", "worker µs", "of runs", "floor µs", "ratio", "goal", "per second", "RSS MB", "broker µs/msg",
         "simulator µs/req"], rows)


def floor_table(results):
    rows = []
    for result in results:
        floor = result.get("floor")
        if floor:
            rows.append([result["case"]["name"], *(f"{floor.get(part, 0):.2f}" for part in (
                "requests", "consume", "publish", "redis", "sum", "h2load"))])
    return table(["floor, µs per notification", "requests", "consume", "publish", "redis", "sum", "(h2load)"], rows)


def live_table(results):
    rows = []
    for result in results:
        delays = result["latency_ms"]
        rows.append([
            result["name"], f"{result['per_second']:,.0f}", f"{result['cpu_us']:.2f}",
            *(f"{delays[name]:.1f}" for name in ("p50", "p90", "p99", "p999", "max")), f"{result['rss_mb']:.0f}",
            f"{100 * result['idle_share']:.2f}"])
    return table(
        ["published while it sends", "per second", "worker µs", "p50 ms", "p90", "p99", "p99.9", "max", "RSS MB",
         "idle % of a core"], rows)


def latency_table(results):
    rows = []
    for result in results:
        live = result.get("live")
        if live:
            delays = live["latency_ms"]
            rows.append([
                result["case"]["name"], f"{live['per_second']:,.0f}", f"{live['cpu_us']:.2f}",
                *(f"{delays[name]:.1f}" for name in ("p50", "p90", "p99", "p999", "max"))])
    return table(
        ["published at half its speed", "per second", "worker µs", "p50 ms", "p90", "p99", "p99.9", "max"], rows)


def half_load(bench, runs, results):
    """All it can with publishing at the same time, and then half of that."""
    say("published while it sends …")
    case = MAIN[0]
    full = [bench.live(case, 0, 0) for _ in range(1)]
    rate = int(full[0]["per_second"] / 2)
    half = sorted((bench.live(case, rate, 5) for _ in range(runs)), key=lambda each: each["latency_ms"]["p99"])
    results["live"] = [{"name": "as fast as it goes", **full[0]}, {"name": "half of that", **half[len(half) // 2]}]


def measure_all(options, wanted, keep):
    """Measures what is wanted, one table after the other."""
    binary = (options.binary or build()).absolute()
    refuse_debug(binary)
    report = Report(binary, {"runs": options.runs, "prefetch_per_connection": PREFETCH, "streams": 1000, "app": APP})
    results = report.results
    fleet = Fleet("bench", binary)
    keep(fleet)
    bench = Bench(fleet, Floor(fleet))
    if not machine.wait_until_quiet(3, 0.1):
        bench.warn("the machine is busy with something else; the numbers will be worse than they should")
    fleet.start_servers()
    fleet.start_simulator("--ledger-limit", 2_000_000)
    bench.settle()
    for name in wanted:
        if name == "live":
            half_load(bench, options.runs, results)
            print(live_table(results["live"]) + "\n", flush=True)
            continue
        if name == "peers":
            results["peers"] = [bench.measure_peer(case) for case in PEERS]
            print(cost_table(results["peers"]) + "\n", flush=True)
            continue
        cases, runs = (MAIN, options.runs) if name == "main" else (CURVES[name], 1)
        floors = name == "main" or name in WITH_FLOOR
        results[name] = [bench.measure(case, runs, floors) for case in cases]
        # What waits in a backlog was published long ago.
        if name not in ("main", "backlog"):
            for case, result in zip(cases, results[name]):
                say(f"{case.name}, published at half its speed …")
                result["live"] = bench.live(case, max(1, int(result["per_second"] / case.tokens / 2)), 3, looks_at_idle=False)
        print(cost_table(results[name]))
        if floors:
            print("\n" + floor_table(results[name]))
        if name in CURVES and name != "backlog":
            print("\n" + latency_table(results[name]))
        print(flush=True)
    report.end(bench.warnings, options.json)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    add_json_option(parser)
    options = parser.parse_args()
    known = ["main", "live", "peers", *CURVES]
    if unknown := set(options.only) - set(known):
        parser.error(f"--only {unknown.pop()}: it must be one of {', '.join(known)}")
    check_json_option(parser, options)
    if options.runs < 1:
        parser.error("--runs must be 1 at least")
    wanted = options.only or ["main", "live"]
    wanted += ["peers"] * options.peers + list(CURVES) * options.curves

    return run_script("bench", lambda keep: measure_all(options, wanted, keep))


sys.exit(main())
