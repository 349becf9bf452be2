"""Whether files can be read, and name only what there is."""

import re

import yaml

CONFIGURATIONS = ["deploy/compose/pushfleet.yaml", "deploy/kubernetes/configuration/pushfleet.yaml"]


def readable(tree):
    for name in tree.glob("deploy/**/*.json"):
        # Samples of what is to be refused are broken by intention.
        if "/samples/" in name:
            continue
        try:
            tree.json(name)
        except ValueError as error:
            yield f"{name}: {error}"
    for name in tree.glob("deploy/**/*.yaml"):
        try:
            tree.documents(name)
        except yaml.YAMLError as error:
            yield f"{name}: {error}"


def flat(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, (*path, str(key)))
    else:
        yield path


def is_known(path, keys):
    return any(len(path) == len(key) and all(known in ("*", part) for part, known in zip(path, key)) for key in keys)


def keys_exist(tree):
    keys = [tuple(re.split(r"\.", key)) for key in tree.setting_keys()]
    for name in CONFIGURATIONS:
        for path in flat(tree.yaml(name)):
            # The app's id has dots of its own; it is one part here.
            if not is_known(path, keys):
                yield f"{name}: the program knows no key {'.'.join(path)}"
    words = {"PUSHFLEET_" + "_".join(key).upper() for key in keys}
    for name in tree.glob("deploy/systemd/*.service"):
        for word in re.findall(r"Environment=(PUSHFLEET_[A-Z_]+)=", tree.text(name)):
            if word not in words:
                yield f"{name}: the program knows no key {word}"


def anchor(heading):
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def links(tree):
    for name in ["deploy/runbooks.md", "deploy/README.md", "deploy/prometheus/metrics.md"]:
        path = tree.path(name)
        for target in re.findall(r"\]\(([^)]+)\)", tree.text(name)):
            if "://" in target:
                continue
            file, _, place = target.partition("#")
            there = path.parent / file if file else path
            if not there.exists():
                yield f"{name}: {target} is not there"
            elif place and place not in map(anchor, re.findall(r"^#+ (.*)$", there.read_text(), re.M)):
                yield f"{name}: {target} has no such heading"


CHECKS = [
    ("files: JSON and YAML can be read", readable),
    ("files: every configuration key exists", keys_exist),
    ("files: links lead somewhere", links),
]
