"""The kustomizations: built by kubectl, and what stands in them."""

import functools
import os
import re
import tempfile

import kube_discovery
import yaml
from deploy_tree import NotHere, tool

FOLDERS = ["base", "keda", "hpa", "topology"]
CONFIGURATION = "deploy/kubernetes/configuration/pushfleet.yaml"
SECRETS = "deploy/kubernetes/base/secrets.example.yaml"


@functools.cache
def built(root, folder):
    """What kubectl makes of a kustomization, and whether it could."""
    with tempfile.TemporaryDirectory() as cache:
        return tool("kubectl", "kustomize", f"{root}/deploy/kubernetes/{folder}", env={**os.environ, "HOME": cache})


def objects(tree, folder):
    tree.need("kubectl", "Kubernetes' files")
    good, text = built(str(tree.root), folder)
    if not good:
        raise ValueError(f"kubectl kustomize {folder}: {text}")
    return [document for document in yaml.safe_load_all(text) if document]


def dry_run(tree):
    tree.need("kubectl", "Kubernetes' files")
    url, stop = kube_discovery.serve()
    try:
        with tempfile.TemporaryDirectory() as cache:
            for folder in FOLDERS:
                good, text = built(str(tree.root), folder)
                if good:
                    # The schema is checked below, a server for it is not at hand.
                    good, text = tool(
                        "kubectl", "--server", url, "--kubeconfig", os.devnull, "--cache-dir", cache, "apply",
                        "--dry-run=client", "--validate=false", "--filename", "-",
                        input=text, env={**os.environ, "HOME": cache})
                if not good:
                    yield f"{folder}: {text}"
    finally:
        stop()


def schemas(tree):
    try:
        import kubernetes_validate
    except ImportError as error:
        raise NotHere("the Python package kubernetes-validate is not installed: schemas not checked") from error
    named = [(folder, found) for folder in FOLDERS for found in objects(tree, folder)]
    named += [("secrets.example.yaml", found) for found in tree.documents(SECRETS)]
    for place, found in named:
        if found["kind"] == "ScaledObject":
            continue
        try:
            kubernetes_validate.validate(found, "1.30", strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{place}: {found['kind']} {found['metadata']['name']}: {error.message[:300]}"


def pods(tree, folder):
    """Name, pod specification, labels."""
    for found in objects(tree, folder):
        if found["kind"] in ("Deployment", "Job"):
            template = found["spec"]["template"]
            yield found, template["spec"], template["metadata"]["labels"]


def locked(tree):
    verbs = tree.verbs()
    for folder in ("base", "topology"):
        for found, pod, _ in pods(tree, folder):
            name = found["metadata"]["name"]
            security = pod["securityContext"]
            if not security.get("runAsNonRoot") or security.get("runAsUser", 0) < 1000:
                yield f"{name}: may run as root"
            if security.get("seccompProfile") != {"type": "RuntimeDefault"}:
                yield f"{name}: no seccomp profile"
            if pod.get("automountServiceAccountToken") is not False:
                yield f"{name}: holds a token of the cluster"
            if any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC")):
                yield f"{name}: shares something with the host"
            for container in pod["containers"]:
                inside = container["securityContext"]
                if (inside.get("readOnlyRootFilesystem") is not True or inside.get("allowPrivilegeEscalation") is not False
                        or inside.get("capabilities") != {"drop": ["ALL"]}):
                    yield f"{name}: not locked up"
                if "memory" not in container["resources"]["limits"] or "cpu" in container["resources"]["limits"]:
                    yield f"{name}: memory has to have a limit, and CPU none"
                if " ".join(container["args"]) not in verbs:
                    yield f"{name}: the program has no verb {' '.join(container['args'])}"
                probes = {"startupProbe", "livenessProbe", "readinessProbe"}
                if found["kind"] == "Deployment" and not probes <= container.keys():
                    yield f"{name}: a probe is missing"
                for probe in probes & container.keys():
                    path = container[probe]["httpGet"]["path"]
                    if path != ("/readyz" if probe == "readinessProbe" else "/livez"):
                        yield f"{name}: {probe} asks {path}"


def grace(tree):
    for found, pod, _ in pods(tree, "base"):
        name = found["metadata"]["name"]
        drain = tree.drain(CONFIGURATION, name)
        hook = pod["containers"][0].get("lifecycle", {}).get("preStop", {})
        wait = hook["sleep"]["seconds"] if hook else 0
        if hook.keys() - {"sleep"}:
            yield f"{name}: there is no shell in the image; its preStop hook can only sleep"
        if pod["terminationGracePeriodSeconds"] < drain + wait + 10:
            yield f"{name}: less than 10 s are left beside {wait} s before and {drain} s of drain"


def fits(selector, labels):
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def finds(tree):
    all_pods = list(pods(tree, "base")) + list(pods(tree, "topology"))
    labels = [found for _, _, found in all_pods]
    secrets = {found["metadata"]["name"]: set(found["stringData"]) for found in tree.documents(SECRETS)}
    reads = set(re.findall(r"/run/secrets/pushfleet/([a-z-]+)", tree.text(CONFIGURATION)))
    own = {"signing-key": "worker", "access-key": "gateway", "dashboard-tokens": "dashboard"}
    ports = {}
    for found, pod, mine in all_pods:
        name = found["metadata"]["name"]
        settings = tree.yaml(CONFIGURATION).get(name, {})
        ports[name] = {port["containerPort"] for port in pod["containers"][0].get("ports", [])}
        configured = {settings[key] for key in ("port", "admin_port") if key in settings}
        if ports[name] != configured:
            yield f"{name}: container ports {ports[name]}, configured {configured}"
        port_names = {port["name"] for port in pod["containers"][0].get("ports", [])}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe in pod["containers"][0] and pod["containers"][0][probe]["httpGet"]["port"] not in port_names:
                yield f"{name}: {probe} asks a port that has no name"
        annotation = found["spec"]["template"]["metadata"].get("annotations", {}).get("prometheus.io/port")
        if annotation and int(annotation) not in ports[name]:
            yield f"{name}: Prometheus is sent to port {annotation}"
        for volume in pod["volumes"]:
            if "secret" in volume:
                secret = volume["secret"]["secretName"]
                wanted = {key for key in reads if own.get(key, name) == name}
                for key in wanted - secrets.get(secret, set()):
                    yield f"{name}: Secret {secret} has no {key}"
        if found["kind"] == "Deployment" and not fits(found["spec"]["selector"], mine):
            yield f"{name}: selects other pods than its own"
    for found in objects(tree, "base"):
        kind, name = found["kind"], found["metadata"]["name"]
        if kind == "Service" and not any(fits({"matchLabels": found["spec"]["selector"]}, mine) for mine in labels):
            yield f"Service {name} finds no pod"
        if kind == "PodDisruptionBudget" and not any(fits(found["spec"]["selector"], mine) for mine in labels):
            yield f"PodDisruptionBudget {name} finds no pod"
        if kind == "NetworkPolicy":
            chosen = [pod["metadata"]["name"] for pod, _, mine in all_pods if fits(found["spec"]["podSelector"], mine)]
            if not chosen:
                yield f"NetworkPolicy {name} finds no pod"
            for rule in found["spec"].get("ingress", []):
                for port in rule["ports"]:
                    if port["port"] not in set().union(*(ports[pod] for pod in chosen)):
                        yield f"NetworkPolicy {name}: nobody listens on {port['port']}"
    listening = {name for name, found in ports.items() if found}
    opened = {found["metadata"]["name"] for found in objects(tree, "base")
              if found["kind"] == "NetworkPolicy" and found["spec"].get("ingress")}
    for name in listening - opened:
        yield f"{name} listens, and no NetworkPolicy lets anybody in"


def autoscalers(tree):
    tree.need("kubectl", "Kubernetes' files")
    budget = sum(found["max_connections"] for found in tree.yaml(CONFIGURATION)["credentials"].values())
    for folder, kind, least, most in (("keda", "ScaledObject", "minReplicaCount", "maxReplicaCount"),
                                      ("hpa", "HorizontalPodAutoscaler", "minReplicas", "maxReplicas")):
        found = objects(tree, folder)
        scaler, = [entry["spec"] for entry in found if entry["kind"] == kind]
        target, = [entry for entry in found
                   if entry["kind"] == "Deployment" and entry["metadata"]["name"] == scaler["scaleTargetRef"]["name"]]
        if "replicas" in target["spec"]:
            yield f"{folder}: the Deployment says a number of replicas as well"
        if not 2 <= scaler[least] <= scaler[most] <= budget:
            yield f"{folder}: {scaler[least]} to {scaler[most]} workers on {budget} connections"
        if kind == "ScaledObject":
            if not scaler[least] <= scaler["fallback"]["replicas"] <= scaler[most]:
                yield f"{folder}: the fallback is no number between the least and the most"
            for trigger in scaler["triggers"]:
                if trigger["type"] != "prometheus" or trigger["metricType"] != "AverageValue":
                    yield f"{folder}: the fallback works only with AverageValue"
                if not {"serverAddress", "query", "threshold"} <= trigger["metadata"].keys():
                    yield f"{folder}: the trigger says too little"
        behaviour = scaler.get("behavior") or scaler["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
        if behaviour["scaleDown"]["stabilizationWindowSeconds"] < 120:
            yield f"{folder}: shrinks within seconds"


CHECKS = [
    ("kubernetes: kustomize and kubectl's dry run", dry_run),
    ("kubernetes: schemas of 1.30, no unknown field", schemas),
    ("kubernetes: pods are locked up", locked),
    ("kubernetes: grace times fit the drain", grace),
    ("kubernetes: what names a pod, a secret or a port finds it", finds),
    ("kubernetes: autoscalers stay within the budget", autoscalers),
]
