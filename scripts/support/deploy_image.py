"""The image's steps, and the compose file."""

import fnmatch
import pathlib
import re
import shlex
import tempfile

from deploy_tree import seconds, tool

DOCKERFILE = "deploy/container/Dockerfile"
COMPOSE = "deploy/compose/compose.yaml"


def steps(tree):
    """The Dockerfile's instructions: keyword and words."""
    text = re.sub(r"^\s*#.*\n", "", tree.text(DOCKERFILE), flags=re.M)
    text = re.sub(r"\\\n", " ", text)
    for line in filter(None, map(str.strip, text.split("\n"))):
        keyword, _, rest = line.partition(" ")
        yield keyword.upper(), rest


def ignored(tree, path):
    """Whether .dockerignore keeps a path from the build; the last line that fits decides."""
    result = False
    for line in tree.text(DOCKERFILE + ".dockerignore").split("\n"):
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        parts = path.split("/")
        fits = any(fnmatch.fnmatch("/".join(parts[:end]), pattern.lstrip("!")) for end in range(1, len(parts) + 1))
        if fits:
            result = not pattern.startswith("!")
    return result


def steps_find(tree):
    stages, made = [], {}
    for keyword, rest in steps(tree):
        if keyword == "FROM":
            image, *name = rest.split(" AS ")
            if image.startswith("$"):
                yield f"FROM {image}: write the image's name"
            stages.append(name[0] if name else str(len(stages)))
        elif keyword == "COPY":
            words = shlex.split(rest)
            stage = next((word.split("=")[1] for word in words if word.startswith("--from=")), None)
            sources = [word for word in words if not word.startswith("--")][:-1]
            for source in sources:
                if stage:
                    if stage not in stages[:-1]:
                        yield f"COPY --from={stage}: no such stage before it"
                    elif source not in made.get(stage, set()):
                        yield f"COPY --from={stage} {source}: that stage makes nothing there"
                elif not (tree.root / source).exists():
                    yield f"COPY {source}: not in the repository"
                elif ignored(tree, source):
                    yield f"COPY {source}: .dockerignore keeps it out"
        elif keyword == "RUN":
            yield from run_step(tree, rest, stages[-1], made)
        elif keyword == "ADD":
            yield "ADD fetches and unpacks; use COPY"


def run_step(tree, command, stage, made):
    if "swift build" in command:
        product = re.search(r"--product (\S+)", command)
        if not product or f'.executable(name: "{product[1]}"' not in tree.text("Package.swift"):
            yield f"RUN {command}: Package.swift has no such product"
    elif "collect" in command:
        program, *arguments = command.split()
        if not (tree.root / program).exists():
            yield f"RUN {program}: not in the repository"
        made.setdefault(stage, set()).add(arguments[-1])
    elif "apt-get install" in command:
        packages = set(re.findall(r"\b(lib[a-z0-9.-]+-dev)\b", command))
        wanted = set(re.findall(r'\.apt\(\["([^"]+)"\]\)', tree.text("Package.swift")))
        for package in wanted - packages:
            yield f"RUN apt-get install: {package} is missing, which Package.swift builds with"
        for package in packages - wanted:
            yield f"RUN apt-get install: Package.swift does not build with {package}"


def image_is_closed(tree):
    last = {}
    for keyword, rest in steps(tree):
        last = {} if keyword == "FROM" else last
        last.setdefault(keyword, []).append(rest)
    if last["FROM"] != ["scratch"]:
        yield f"the image is from {last['FROM'][0]}, not from scratch"
    user = last.get("USER", ["root"])[-1].split(":")[0]
    if not user.isdigit() or int(user) < 1000:
        yield f"the image runs as {user}"
    if "RUN" in last:
        yield "the image's own stage runs something"
    ports = set(last["EXPOSE"][0].split())
    settings = tree.yaml("deploy/compose/pushfleet.yaml")
    named = {str(settings[role][key])
             for role, key in (("gateway", "port"), ("worker", "admin_port"), ("dashboard", "port"))}
    for port in ports ^ named:
        yield f"port {port} stands in only one of the Dockerfile and deploy/compose/pushfleet.yaml"
    if last["ENTRYPOINT"] != ['["/usr/bin/pushfleet"]']:
        yield "the entry point is not the program"


def ours(tree):
    """The compose file's services that run our image."""
    services = tree.yaml(COMPOSE)["services"]
    return {name: service for name, service in services.items() if service["image"].startswith("pushfleet")}


def compose_roles(tree):
    verbs = tree.verbs()
    for name, service in ours(tree).items():
        if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"] or service.get("privileged"):
            yield f"{name}: not locked up"
        if service["user"].split(":")[0] in ("0", "root"):
            yield f"{name}: runs as root"
        words = [word for word in service["command"] if not word.startswith("--")]
        if words[0] not in verbs or (len(words) > 1 and " ".join(words[:2]) not in verbs):
            yield f"{name}: the program has no verb {' '.join(words)}"
        if words[0] in ("worker", "gateway"):
            drain = tree.drain("deploy/compose/pushfleet.yaml", words[0])
            if seconds(service["stop_grace_period"]) < drain + 10:
                yield f"{name}: stop_grace_period leaves less than 10 s beside a drain of {drain} s"
        for port in service.get("ports", []):
            if not port.startswith("127.0.0.1:"):
                yield f"{name}: port {port} is open to other machines"


def compose_parts(tree):
    compose = tree.yaml(COMPOSE)
    folder = tree.path(COMPOSE).parent
    for name, entry in compose["configs"].items():
        if not (folder / entry["file"]).exists():
            yield f"configs.{name}: {entry['file']} is not there"
    mounted = {}
    for name, service in compose["services"].items():
        for kind in ("configs", "secrets"):
            for entry in service.get(kind) or []:
                source = entry if isinstance(entry, str) else entry["source"]
                if source not in compose[kind]:
                    yield f"{name}: {kind}.{source} is not defined"
                if kind == "secrets":
                    target = source if isinstance(entry, str) else entry["target"]
                    mounted.setdefault(name, set()).add(target)
        for other in service.get("depends_on", {}):
            if other not in compose["services"]:
                yield f"{name}: depends on {other}, which is not there"
    used = {entry if isinstance(entry, str) else entry["source"]
            for service in compose["services"].values() for entry in service.get("secrets") or []}
    for name in compose["secrets"].keys() - used:
        yield f"secrets.{name} is nobody's"
    # What each role reads, by the configuration and by its command.
    files = set(re.findall(r"/run/secrets/([a-z-]+)", tree.text("deploy/compose/pushfleet.yaml")))
    needs = {"worker": files - {"access-key", "dashboard-tokens"}, "gateway": files - {"signing-key", "dashboard-tokens"},
             "dashboard": files - {"signing-key", "access-key"}, "topology": {"amqp-url", "redis-url", "master-key"},
             "simulator": set(re.findall(r"/run/secrets/([a-z-]+)", " ".join(ours(tree)["simulator"]["command"])))}
    for name, wanted in needs.items():
        for file in wanted - mounted[name]:
            yield f"{name}: reads /run/secrets/{file}, which is not mounted"


def prepared(tree):
    compose = tree.yaml(COMPOSE)
    tree.need("openssl", "what prepare makes")
    tree.need("jq", "what prepare makes")
    with tempfile.TemporaryDirectory() as folder:
        good, said = tool(str(tree.path("deploy/compose/prepare")), f"{folder}/secrets")
        if not good:
            yield f"prepare: {said}"
            return
        for name, entry in compose["secrets"].items():
            file = entry["file"].removeprefix("./secrets/")
            if not (pathlib.Path(folder) / "secrets" / file).exists():
                yield f"secrets.{name}: prepare makes no {file}"
        made = pathlib.Path(folder) / "secrets"
        for file in ("definitions.json", "users.acl"):
            if "change-this" in (made / file).read_text():
                yield f"prepare leaves an example's password in {file}"


CHECKS = [
    ("image: the steps find what they name", steps_find),
    ("image: not root, nothing that listens unnamed", image_is_closed),
    ("compose: roles are locked up and have time to drain", compose_roles),
    ("compose: secrets, configurations and users are there", compose_parts),
    ("compose: prepare makes what compose.yaml names", prepared),
]
