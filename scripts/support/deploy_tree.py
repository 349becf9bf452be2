"""The repository as the checks of deploy/ see it."""

import json
import pathlib
import re
import shutil
import subprocess

import yaml

# What the files already count on and other parts of the program bring. Once the program has them, they are found there.
COMING_KEYS = []
COMING_VERBS = []


class Missing(Exception):
    """A file that should be there is not."""


class NotHere(Exception):
    """What a check needs is not installed."""


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    def path(self, name):
        path = self.root / name
        if not path.exists():
            raise Missing(f"{name} is not there")
        return path

    def text(self, name):
        return self.path(name).read_text()

    def json(self, name):
        return json.loads(self.text(name))

    def yaml(self, name):
        return yaml.safe_load(self.text(name))

    def documents(self, name):
        return [document for document in yaml.safe_load_all(self.text(name)) if document]

    def glob(self, pattern):
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern) if path.is_file())

    def need(self, tool, what):
        """Ends the check, which then claims nothing, if a tool is not installed."""
        if not shutil.which(tool):
            raise NotHere(f"{tool} is not installed: {what} not checked")

    def setting_keys(self):
        """Every configuration key that the program knows, with * for names of the operator's choice."""
        found = set(COMING_KEYS)
        for file in self.glob("Sources/pushfleet/Configuration/SettingsTable*.swift"):
            found.update(re.findall(r'SettingKey\(\s*"([a-z_.*]+)"', self.text(file)))
        return found

    def verbs(self):
        """Every verb, and every verb with its subcommand."""
        found = set(COMING_VERBS) | {verb.split()[0] for verb in COMING_VERBS}
        for file in self.glob("Sources/pushfleet/**/*Verb.swift"):
            for source in re.split(r"^(?=struct )", self.text(file), flags=re.M)[1:]:
                name = re.search(r'commandName: "([a-z-]+)"', source)
                if not name:
                    continue
                verb = name[1]
                found.add(verb)
                inner = re.findall(r"^    struct (\w+): (?:Async)?ParsableCommand", source, re.M)
                inner += re.findall(r"\b[A-Z]\w+(?=\.self)", source)
                for word in inner:
                    word = word.removesuffix("Verb").lower().removeprefix(verb)
                    found.add(f"{verb} {word}")
        return found

    def drain(self, configuration, role):
        """How long a role waits for what is under way, in seconds."""
        if role == "dashboard":
            return 0
        text = self.yaml(configuration)[role]["drain_timeout"]
        return seconds(text)


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)?", str(text)).groups()
    return int(number) * {"ms": 0.001, "s": 1, None: 1, "m": 60, "h": 3600}[unit]


def tool(*command, **options):
    """Runs it; returns whether it succeeded, and what it said."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
                          **options)
    return done.returncode == 0, done.stdout.strip()
