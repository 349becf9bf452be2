"""What a measurement was made on, with what, and who else was at work meanwhile."""

import os
import pathlib
import re
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def output(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout.strip()
    except FileNotFoundError:
        return ""


def package(name):
    version = output("dpkg-query", "-W", "-f", "${Version}", name)
    return version if re.match(r"\d", version) else "unknown"


def describe(binary):
    """Names and values that tell a stranger what to set up for the same numbers."""
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    system = re.search(r'PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text())
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))
    commit = output("git", "-C", pathlib.Path(__file__).parent, "rev-parse", "--short", "HEAD")
    return {
        "pushfleet": output(binary, "--version").removeprefix("pushfleet "),
        "commit": commit if re.fullmatch(r"[0-9a-f]+", commit) else "unknown",
        "cpu": model.group(1) if model else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "system": system.group(1) if system else "unknown",
        "kernel": os.uname().release,
        "swift": swift.group(1) if swift else "unknown",
        "cc": output("cc", "-dumpfullversion"),
        "rabbitmq": package("rabbitmq-server"),
        "erlang": package("erlang-base"),
        "redis": package("redis-server"),
        "openssl": package("libssl3"),
        "nghttp2": package("libnghttp2-14"),
        "librabbitmq": package("librabbitmq4"),
        "hiredis": package("libhiredis0.14"),
    }


def busy_seconds():
    """How long the processors of this machine have worked for anybody, a hypervisor's other guests included."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / TICKS


def used_seconds(pid):
    """A process' processor time, and that of its children that have ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0
    return sum(map(int, fields[11:15])) / TICKS


def memory_mb(pid):
    """Resident memory, now and at most."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"{name}:\s+(\d+)", status).group(1)) / 1024 for name in ("VmRSS", "VmHWM"))


class Watch:
    """Compares what the whole machine works with what our own processes do."""

    def __init__(self, pids):
        self.pids = list(pids)
        self.begin = self.now()

    def now(self):
        return time.monotonic(), busy_seconds(), {pid: used_seconds(pid) for pid in self.pids}

    def used(self, pid):
        """Seconds of processor time that one of them has used since the beginning."""
        return used_seconds(pid) - self.begin[2][pid]

    def others(self):
        """The share of one core that went to somebody else."""
        now, begin = self.now(), self.begin
        ours = sum(now[2][pid] - begin[2][pid] for pid in self.pids)
        return max(0, now[1] - begin[1] - ours) / max(0.01, now[0] - begin[0])


def wait_until_quiet(most_seconds=15, share=0.15):
    """Lets RabbitMQ finish with what was published: it writes on for a while.

    Returns false if the machine did not come to rest."""
    cores = len(os.sched_getaffinity(0))
    deadline = time.monotonic() + most_seconds
    while time.monotonic() < deadline:
        before = busy_seconds()
        time.sleep(0.4)
        if (busy_seconds() - before) / 0.4 / cores < share:
            return True
    return False
