"""Rules, dashboards and runbooks: promtool, and that all speak of the same."""

import re

from deploy_files import anchor
from deploy_tree import tool

TABLE = "deploy/prometheus/metrics.md"
RULES = "deploy/prometheus/rules.yaml"
RUNBOOKS = "deploy/runbooks.md"
# What Prometheus itself adds.
LABELS = {"job", "instance", "le", "alertname", "alertstate"}


def promtool(tree):
    tree.need("promtool", "rules")
    for arguments in (["check", "rules", RULES], ["test", "rules", "deploy/prometheus/rules.test.yaml"],
                      ["check", "config", "--syntax-only", "deploy/prometheus/scrape.yaml"]):
        good, said = tool("promtool", *arguments, cwd=tree.root)
        if not good:
            yield f"promtool {' '.join(arguments)}: {said}"


def defined(tree):
    """Names, each with its labels; a histogram also with its three series."""
    found = {}
    for name, kind, labels in re.findall(r"^\| `([a-z_]+)` \| (\w+) \| [^|]*\| ([^|]*)\|", tree.text(TABLE), re.M):
        if name in found:
            raise ValueError(f"metrics.md: {name} stands there twice")
        if kind not in ("counter", "gauge", "histogram") or (kind == "counter") != name.endswith("_total"):
            raise ValueError(f"metrics.md: {name} is no name for a {kind}")
        words = set(filter(None, re.split(r"[ ,]+", labels.strip())))
        for ending in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            found[name + ending] = words
    return found


def expressions(tree):
    """Every expression that is asked, with the place where it stands."""
    for group in tree.yaml(RULES)["groups"]:
        for rule in group["rules"]:
            yield rule.get("alert") or rule["record"], rule["expr"]
    dashboard = tree.json("deploy/grafana/pushfleet.json")
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"Grafana: {panel['title']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            query = re.sub(r"label_values\((\w+), (\w+)\)", r'\1{\2=""}', variable["definition"])
            yield f"Grafana: ${variable['name']}", query
    for name in ("keda/scaledobject.yaml", "hpa/hpa.yaml"):
        for query in re.findall(r"(?:query|metricsQuery|seriesQuery): (.*)", tree.text(f"deploy/kubernetes/{name}")):
            yield name, query


def only_defined(tree):
    names = defined(tree)
    recorded = {rule["record"] for group in tree.yaml(RULES)["groups"] for rule in group["rules"] if "record" in rule}
    for place, expression in expressions(tree):
        for name in re.findall(r"\bpushfleet:[a-z0-9_:]+", expression):
            if name not in recorded:
                yield f"{place}: {name} is not recorded"
        plain = re.sub(r"pushfleet:[a-z0-9_:]+", "", expression)
        used = re.findall(r"\b((?:pushfleet|process)_[a-z_]+)\b(?:\{([^}]*)\})?", plain)
        known = set(LABELS)
        for name, selectors in used:
            if name not in names:
                yield f"{place}: metrics.md defines no {name}"
                continue
            known |= names[name]
            for label in re.findall(r"(\w+)\s*[=!]~?", re.sub(r'"[^"]*"', '""', selectors)):
                if label not in names[name] | LABELS:
                    yield f"{place}: {name} has no label {label}"
        if used:
            for group in re.findall(r"\bby \(([^)]*)\)", expression):
                for label in filter(None, re.split(r"[ ,]+", group)):
                    if label not in known:
                        yield f"{place}: nothing there has a label {label}"


def into_runbooks(tree):
    places = {f"{RUNBOOKS}#{anchor(heading)}" for heading in re.findall(r"^#+ (.*)$", tree.text(RUNBOOKS), re.M)}
    alerts = set()
    for group in tree.yaml(RULES)["groups"]:
        for rule in group["rules"]:
            if "alert" not in rule:
                continue
            alerts.add(rule["alert"])
            if rule["annotations"].get("runbook") not in places:
                yield f"{rule['alert']}: {rule['annotations'].get('runbook')} is not there"
            if not rule["annotations"].get("summary") or rule["labels"]["severity"] not in ("warning", "critical"):
                yield f"{rule['alert']}: no summary, or no severity"
    for name in set(re.findall(r"PushFleet[A-Z]\w+", tree.text(RUNBOOKS))) - alerts:
        yield f"runbooks.md speaks of {name}, which no rule raises"


def type_what_there_is(tree):
    verbs = tree.verbs()
    text = tree.text(RUNBOOKS)
    several = {verb.split()[0] for verb in verbs if " " in verb}
    # In code blocks and between back quotes; elsewhere it is a word of a sentence.
    blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    code = "\n".join(blocks + quoted)
    for verb, second in re.findall(r"^(?:.*\| )?pushfleet ([a-z]+)(?: ([a-z]+))?", code, re.M):
        command = f"{verb} {second}" if verb in several and second else verb
        if command not in verbs:
            yield f"runbooks.md: there is no pushfleet {command}"
    sources = "".join(tree.text(name) for name in tree.glob("Sources/Push/Answer/*.swift"))
    for reason in re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", text):
        if f'"{reason}"' not in sources and not reason.startswith("PushFleet"):
            yield f"runbooks.md: nobody gives the reason {reason}"
    ours = re.findall(r'case \w+ = "([a-z_]+)"|case (\w+)$', tree.text("Sources/Push/Settlement/DeadLetterReason.swift"), re.M)
    known = {name or other for name, other in ours}
    section = text.split("## Dead letters pile up")[1]
    for reason in re.findall(r"^\| (`[^|]+) \|", section, re.M):
        for name in re.findall(r"`([a-z_]+)`", reason):
            if name not in known:
                yield f"runbooks.md: there is no dead-letter reason {name}"


CHECKS = [
    ("metrics: promtool takes rules and configuration, and the rules' tests pass", promtool),
    ("metrics: only what metrics.md defines is asked for", only_defined),
    ("metrics: alerts lead into the runbooks", into_runbooks),
    ("metrics: runbooks type what there is", type_what_there_is),
]
