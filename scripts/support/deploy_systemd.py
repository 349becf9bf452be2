"""The units, by systemd's own measure."""

import pathlib
import re
import tempfile

from deploy_tree import seconds, tool

# Tenths: 1.3 of 10, where 0 is a process that can do nothing.
EXPOSURE = 13


def units(tree):
    names = tree.glob("deploy/systemd/*.service") + tree.glob("deploy/systemd/*.target")
    return {pathlib.Path(name).name.replace("@.", "@1."): tree.text(name) for name in names}


def setting(text, key):
    return re.findall(rf"^{key}=(.*)$", text, re.M)


def verify(tree):
    verbs = tree.verbs()
    for name, text in units(tree).items():
        for command in setting(text, "ExecStart"):
            program, *words = command.split()
            if program != "/usr/bin/pushfleet" or " ".join(words) not in verbs:
                yield f"{name}: runs {command}"
        if name.endswith(".service") and setting(text, "Type") == ["notify"]:
            if not setting(text, "WatchdogSec") or setting(text, "NotifyAccess") != ["main"]:
                yield f"{name}: no watchdog"
    tree.need("systemd-analyze", "units")
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in units(tree).items():
            # The program is not installed here, and verify looks whether it can be run.
            path = pathlib.Path(folder) / name
            path.write_text(text.replace("=/usr/bin/pushfleet", "=/bin/true"))
            paths.append(str(path))
        good, said = tool("systemd-analyze", "verify", "--man=no", *paths)
        # It also tells what is wrong with units of the machine; and a word that it does not know is only a remark to it.
        ours = [line for line in said.splitlines() if folder in line or "pushfleet" in line]
        if ours or not good:
            yield from ours or [said]


def exposure(tree):
    tree.need("systemd-analyze", "units")
    for name in tree.glob("deploy/systemd/*.service"):
        good, said = tool("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE}", "--no-pager",
                          str(tree.path(name)))
        if not good:
            yield said.splitlines()[-1]


def grace(tree):
    for name, text in units(tree).items():
        role = re.match(r"pushfleet-([a-z]+)", name)
        if not role or role[1] not in ("worker", "gateway"):
            continue
        drain = tree.drain("deploy/kubernetes/configuration/pushfleet.yaml", role[1])
        if seconds(setting(text, "TimeoutStopSec")[0]) < drain + 10:
            yield f"{name}: TimeoutStopSec leaves less than 10 s beside a drain of {drain} s"


CHECKS = [
    ("systemd: units can be verified", verify),
    ("systemd: exposure is at most 1.3", exposure),
    ("systemd: grace times fit the drain", grace),
]
