"""The release build that is measured."""

import os
import pathlib
import subprocess
import sys

import machine
from fleet import ROOT, Failed, say


def build(product="pushfleet", **environment):
    """Builds a product in release mode and returns its path."""
    say("Building release …")
    command = ["swift", "build", "-c", "release", "--package-path", ROOT]
    environment = {**os.environ, **environment}
    done = subprocess.run([*command, "--product", product], stdout=sys.stderr, env=environment, check=False)
    if done.returncode != 0:
        raise Failed("the build failed")
    return pathlib.Path(machine.output(*command, "--show-bin-path")) / product


def refuse_debug(binary):
    try:
        done = subprocess.run([binary, "--version"], stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Failed(f"{binary} cannot be run: {error.strerror}") from error
    if "debug" in done.stdout:
        raise Failed(f"{binary} is a debug build, whose numbers mean nothing; leave --binary out, or build with "
                     "swift build -c release")
    if done.returncode != 0 or not done.stdout.startswith("pushfleet "):
        raise Failed(f"{binary} is not pushfleet")
