"""As much of a Kubernetes API server as `kubectl apply --dry-run=client` asks: which kinds there are."""

import http.server
import json
import threading

# Group and version: kind, plural, whether it lies in a namespace.
KINDS = {
    "v1": [("Namespace", "namespaces", False), ("ConfigMap", "configmaps", True), ("Secret", "secrets", True),
           ("Service", "services", True), ("ServiceAccount", "serviceaccounts", True)],
    "apps/v1": [("Deployment", "deployments", True)],
    "batch/v1": [("Job", "jobs", True)],
    "autoscaling/v2": [("HorizontalPodAutoscaler", "horizontalpodautoscalers", True)],
    "policy/v1": [("PodDisruptionBudget", "poddisruptionbudgets", True)],
    "networking.k8s.io/v1": [("NetworkPolicy", "networkpolicies", True)],
    "keda.sh/v1alpha1": [("ScaledObject", "scaledobjects", True)],
}


def answer(path):
    """What is told about a path; None for an object, as there are none yet."""
    if path == "/version":
        return {"major": "1", "minor": "30", "gitVersion": "v1.30.0"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        groups = []
        for name in KINDS:
            if "/" in name:
                version = {"groupVersion": name, "version": name.split("/")[1]}
                groups.append({"name": name.split("/")[0], "versions": [version], "preferredVersion": version})
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    group = path.removeprefix("/apis/").removeprefix("/api/")
    if group in KINDS:
        resources = [{"name": plural, "singularName": "", "namespaced": namespaced, "kind": kind,
                      "verbs": ["create", "get", "list", "patch"]} for kind, plural, namespaced in KINDS[group]]
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": resources}
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = answer(self.path.split("?")[0])
        body = json.dumps(found or {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                    "reason": "NotFound", "code": 404}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    """Starts it on loopback; returns its URL and what ends it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}", server.shutdown
