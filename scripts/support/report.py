"""What a benchmark says of itself before and after: the machine, its load, warnings, and where the results go."""

import json
import os
import pathlib
import time

import machine


class Report:
    def __init__(self, binary, settings=None):
        about, load = machine.describe(binary), os.getloadavg()
        self.results = {"machine": about, "load_before": load} | ({"settings": settings} if settings else {})
        print("  ".join(f"{name} {value}" for name, value in about.items()))
        print(f"load average before: {load[0]:.2f} {load[1]:.2f} {load[2]:.2f}\n", flush=True)
        self.began = time.monotonic()

    def end(self, warnings, file):
        """Prints what was wrong with the run; writes the results to the file, if one is wanted."""
        self.results["warnings"], self.results["seconds"] = warnings, time.monotonic() - self.began
        for warning in warnings:
            print(f"WARNING: {warning}")
        print(f"{self.results['seconds']:.0f} seconds in all")
        if file:
            file.write_text(json.dumps(self.results, indent=1) + "\n")


def add_json_option(parser):
    parser.add_argument("--json", type=pathlib.Path)


def check_json_option(parser, options):
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no directory {options.json.parent}")
