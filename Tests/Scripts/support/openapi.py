"""Asks a simulator everything that its OpenAPI file tells of, and holds every answer against the file.

usage: openapi.py FILE ADDRESS TOKEN
"""

import copy
import json
import sys
import urllib.error
import urllib.request

import jsonschema
import yaml

file, address, token = sys.argv[1:]
with open(file, encoding="utf-8") as stream:
    document = yaml.safe_load(stream)


def resolved(node):
    while isinstance(node, dict) and "$ref" in node:
        target = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def strict(schema, is_part=False):
    """The schema with all references filled in, and no field allowed that it does not name."""
    schema = copy.copy(resolved(schema))
    for word in ("allOf", "oneOf"):
        if word in schema:
            schema[word] = [strict(part, is_part=True) for part in schema[word]]
    if "items" in schema:
        schema["items"] = strict(schema["items"])
    if "properties" in schema:
        schema["properties"] = {name: strict(value) for name, value in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        schema["additionalProperties"] = strict(schema["additionalProperties"])
    elif is_part or "oneOf" in schema:
        schema.pop("additionalProperties", None)
    elif "properties" in schema or "allOf" in schema:
        schema["unevaluatedProperties"] = False
        schema.pop("additionalProperties", None)
    return schema


def ask(method, path, body=None):
    request = urllib.request.Request(address + path, method=method, data=body and json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["content-type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["content-type"], error.read()


# A value for each request body that is not in an example, and for each place in a path.
rule = {"id": "r", "match": {"probability": 0.5}, "action": {"type": "answer", "status": 500, "reason": "X"}}
bodies = {
    ("post", "/settings"): [{"latency_ms": 1}, {"latency_ms": [1, 2]}, {"streams": 0}],
    ("post", "/clock"): [{"advance_ms": 5}, {"real": True}, {"real": False}],
    ("post", "/rules"): [rule, {"action": {"type": "explode"}}],
    ("post", "/keys"): [{"id": "a", "team": "b", "public_key": "c"}],
    ("post", "/expectations"): [{"token": token}, {"token": token, "at_most": 0}, {"token": "x"}],
    ("post", "/ledger/compare"): [{"tokens": [token, "00ff"]}, {"apns_ids": ["x"]}],
    ("post", "/channels"): [{"bundle_id": "a.b", "channel": "AAAA"}, {"bundle_id": "a.b", "channel": "!"}],
    ("put", "/tokens/{token}"): [{"state": "unregistered", "at": 1, "topic": "a.b"}, {"state": "gone"}],
    ("post", "/connections/goaway"): [{"reason": "Shutdown"}, {"last_stream": "x"}],
}
queries = {"/ledger": ["", "?limit=0"], "/connections": ["", "?limit=0"]}
places = {"{token}": [token, "xyz"], "{id}": ["r", "none"], "{kid}": ["ANYKEY0000"]}

problems = []
asked = 0


def hold(method, path, operation, status, kind, content):
    global asked
    asked += 1
    answer = operation["responses"].get(str(status))
    if answer is None:
        problems.append(f"{method} {path}: {status} is not in the file: {content[:200]!r}")
        return
    contents = resolved(answer)["content"]
    if "text/html" in contents:
        if not kind.startswith("text/html"):
            problems.append(f"{method} {path}: is {kind}")
        return
    schema = strict(contents["application/json"]["schema"])
    for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(content)):
        problems.append(f"{method} {path}: {status}: {error.json_path}: {error.message[:300]}")


# What forgets comes last, so that there is something to tell before.
order = ["get", "put", "post", "delete"]
last = {"/ledger": 1, "/reset": 2}
operations = [
    (method, path, operation)
    for path, item in document["paths"].items()
    for method, operation in item.items()
    if method in order
]
operations.sort(key=lambda entry: (last.get(entry[1], 0) if entry[0] != "get" else 0, order.index(entry[0])))
# The lists must have something in them to be held against the file.
ask("POST", "/rules", rule)
ask("POST", "/channels", {"bundle_id": "a.b", "channel": "BBBB", "storage": "newest"})
for method, path, operation in operations:
    filled = [path]
    for place, values in places.items():
        filled = [text.replace(place, value) for text in filled for value in values] if place in path else filled
    for text in filled:
        for query in queries.get(path, [""]) if method == "get" else [""]:
            for body in bodies.get((method, path), [None]):
                hold(method.upper(), text + query, operation, *ask(method.upper(), text + query, body))

for problem in problems:
    print(problem)
print(f"{asked} answers of {len(operations)} operations")
sys.exit(bool(problems) or asked < len(operations))
