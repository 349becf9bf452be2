"""What scripts/check-deploy does; each check is a function that yields what is wrong."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import deploy_files
import deploy_image
import deploy_kubernetes
import deploy_metrics
import deploy_rights
import deploy_systemd
from deploy_tree import Missing, NotHere, Tree

CHECKS = [*deploy_files.CHECKS, *deploy_image.CHECKS, *deploy_rights.CHECKS, *deploy_kubernetes.CHECKS,
          *deploy_systemd.CHECKS, *deploy_metrics.CHECKS]

# Check: file, what stands there, and the mistake that takes its place.
PLANTS = [
    ("files: JSON and YAML can be read", "deploy/rabbitmq/definitions.json", '"vhosts"', 'vhosts'),
    ("files: every configuration key exists", "deploy/compose/pushfleet.yaml", "drain_timeout", "drain_time"),
    ("files: links lead somewhere", "deploy/prometheus/metrics.md", "(rules.yaml)", "(rule.yaml)"),
    ("image: the steps find what they name", "deploy/container/Dockerfile", "COPY LICENSE", "COPY LICENCE"),
    ("image: not root, nothing that listens unnamed", "deploy/container/Dockerfile", "USER 65532:65532", "USER root"),
    ("compose: roles are locked up and have time to drain", "deploy/compose/compose.yaml", "read_only: true", ""),
    ("compose: roles are locked up and have time to drain", "deploy/compose/compose.yaml",
     "stop_grace_period: 45s", "stop_grace_period: 10s"),
    ("compose: secrets, configurations and users are there", "deploy/compose/compose.yaml",
     "source: redis-url-worker,", "source: redis-url-workers,"),
    ("compose: prepare makes what compose.yaml names", "deploy/compose/prepare", "$work/access-key", "$work/access"),
    ("rights: RabbitMQ's users and permissions belong together", "deploy/rabbitmq/definitions.json",
     '"user": "desk"', '"user": "desks"'),
    ("rights: RabbitMQ's permissions are what each role calls", "deploy/rabbitmq/definitions.json",
     "dead|feedback|receipts|delay", "dead|receipts|delay"),
    ("rights: RabbitMQ's permissions are what each role calls", "deploy/rabbitmq/definitions.json",
     '"write": "^pushfleet$"', '"write": "^pushfleet"'),
    ("rights: Redis' users are closed but for what they name", "deploy/redis/users.acl.example",
     "user default off", "user default on"),
    ("rights: Redis' users are closed but for what they name", "deploy/redis/users.acl.example", " +pttl\n", " +@all\n"),
    ("rights: URLs name users that exist", "deploy/kubernetes/base/secrets.example.yaml", "amqps://worker:", "amqps://wrker:"),
    ("kubernetes: kustomize and kubectl's dry run", "deploy/kubernetes/base/kustomization.yaml", "- gateway.yaml", "- gate.yaml"),
    ("kubernetes: kustomize and kubectl's dry run", "deploy/kubernetes/base/disruption.yaml", "policy/v1", "policy/v2"),
    ("kubernetes: schemas of 1.30, no unknown field", "deploy/kubernetes/base/worker.yaml", "periodSeconds: 10", "period: 10"),
    ("kubernetes: pods are locked up", "deploy/kubernetes/base/worker.yaml", "readOnlyRootFilesystem: true", ""),
    ("kubernetes: grace times fit the drain", "deploy/kubernetes/base/worker.yaml",
     "terminationGracePeriodSeconds: 45", "terminationGracePeriodSeconds: 25"),
    ("kubernetes: what names a pod, a secret or a port finds it", "deploy/kubernetes/base/disruption.yaml",
     "component: gateway", "component: gate"),
    ("kubernetes: what names a pod, a secret or a port finds it", "deploy/kubernetes/base/network.yaml",
     "port: 9912", "port: 9913"),
    ("kubernetes: autoscalers stay within the budget", "deploy/kubernetes/keda/scaledobject.yaml",
     "maxReplicaCount: 8", "maxReplicaCount: 80"),
    ("systemd: units can be verified", "deploy/systemd/pushfleet-gateway.service", "KillMode=mixed", "KillMode=mix"),
    ("systemd: exposure is at most 1.3", "deploy/systemd/pushfleet-gateway.service", "ProtectSystem=strict", "ProtectSystem=no"),
    ("systemd: grace times fit the drain", "deploy/systemd/pushfleet-worker@.service", "TimeoutStopSec=45", "TimeoutStopSec=15"),
    ("metrics: promtool takes rules and configuration, and the rules' tests pass", "deploy/prometheus/rules.yaml",
     'cause="credential"}) == 1', 'cause="credential"}) == 2'),
    ("metrics: only what metrics.md defines is asked for", "deploy/grafana/pushfleet.json",
     "pushfleet_dwell_seconds_bucket", "pushfleet_dwell_second_bucket"),
    ("metrics: only what metrics.md defines is asked for", "deploy/prometheus/rules.yaml",
     'pushfleet_app_paused{cause="suspects"}', 'pushfleet_app_paused{why="suspects"}'),
    ("metrics: alerts lead into the runbooks", "deploy/prometheus/rules.yaml", "#budget-exhausted", "#budget-empty"),
    ("metrics: runbooks type what there is", "deploy/runbooks.md", "pushfleet resume", "pushfleet unpause"),
]


def run(check, tree):
    """The problems that a check finds; a file that is not there is one of them."""
    problems = []
    try:
        problems.extend(check(tree))
    except (Missing, OSError, KeyError, TypeError, ValueError) as error:
        problems.append(f"{type(error).__name__}: {error}")
    return problems


def check_all(root):
    passed = failed = 0
    tree = Tree(root)
    for name, check in CHECKS:
        try:
            problems = run(check, tree)
        except NotHere as error:
            print(error)
            continue
        for problem in problems:
            print(problem)
        if problems:
            print(f"FAILED {name}")
            failed += 1
        else:
            print(f"ok {name}")
            passed += 1
    return passed, failed


def plant(root, file, old, new, copy):
    """A copy of the repository's checked part with one mistake in it."""
    for entry in root.iterdir():
        if entry.name == "deploy":
            shutil.copytree(entry, copy / "deploy", ignore=shutil.ignore_patterns("secrets"))
        elif not entry.name.startswith("."):
            (copy / entry.name).symlink_to(entry)
    text = (copy / file).read_text()
    if old not in text:
        raise ValueError(f"{file} has no {old!r}, so nothing could be planted")
    (copy / file).write_text(text.replace(old, new))


def self_test(root):
    passed = failed = 0
    checks = dict(CHECKS)
    for name, file, old, new in PLANTS:
        what = f"self-test: {name.split(':')[0]}: {new.strip() or 'nothing'} instead of {old.strip()} is found"
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            plant(root, file, old, new, copy)
            try:
                found = run(checks[name], Tree(copy))
            except NotHere as error:
                print(error)
                continue
        if found:
            print(f"ok {what}")
            passed += 1
        else:
            print(f"FAILED {what}")
            failed += 1
    for name in checks.keys() - {plant[0] for plant in PLANTS}:
        print(f"FAILED self-test: no mistake is planted for {name}")
        failed += 1
    return passed, failed


def main(arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    test = False
    while arguments:
        argument = arguments.pop(0)
        if argument == "--self-test":
            test = True
        elif argument == "--root" and arguments:
            root = pathlib.Path(arguments.pop(0)).resolve()
        else:
            print(f"check-deploy: unknown argument {argument} (see --help)", file=sys.stderr)
            return 2
    passed, failed = self_test(root) if test else check_all(root)
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.SubprocessError as error:
        sys.exit(f"check-deploy: {error}")
