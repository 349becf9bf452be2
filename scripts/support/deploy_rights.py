"""Users and permissions of RabbitMQ and Redis, against what each role calls."""

import re

DEFINITIONS = "deploy/rabbitmq/definitions.json"
ACCESS = "deploy/redis/users.acl.example"

# What stands in for the names that the topology makes: an app's queue, a delay.
WORK = ["pushfleet.com.example.shop.now", "pushfleet.com.example.shop.bulk"]
SNS = ["pushfleet.sns.apns-sandbox.Shop.now", "pushfleet.sns.apns.Shop.bulk"]
DELAYS = ["pushfleet.delay.10s", "pushfleet.delay.2500ms"]
STRANGERS = ["amq.topic", "other", "pushfleet2", "xpushfleet", "pushfleetx.dead", ""]


def belong_together(tree):
    definitions = tree.json(DEFINITIONS)
    users = [user["name"] for user in definitions["users"]]
    hosts = {host["name"] for host in definitions["vhosts"]}
    if len(set(users)) != len(users):
        yield "a user is there twice"
    if "guest" in users:
        yield "guest is there"
    for kind in ("permissions", "topic_permissions"):
        for entry in definitions[kind]:
            if entry["user"] not in users:
                yield f"{kind}: there is no user {entry['user']}"
            if entry["vhost"] not in hosts:
                yield f"{kind}: there is no virtual host {entry['vhost']}"
            for right in ("configure", "write", "read"):
                if right in entry:
                    re.compile(entry[right])
                    if not entry[right].startswith("^"):
                        yield f"{kind}: {right} of {entry['user']} is not anchored"
    for user in set(users) - {entry["user"] for entry in definitions["permissions"]}:
        yield f"{user} has no permission"
    for user in definitions["users"]:
        if "administrator" in user["tags"]:
            yield f"{user['name']} is an administrator"


def constants(tree, file):
    """The names that a topology's source gives to exchanges and queues."""
    if not (tree.root / file).exists():
        return {}
    return dict(re.findall(r'static let (\w+) = "(pushfleet[a-z._]*)"', tree.text(file)))


def needs(tree):
    """User, right: what it must reach, and what it must not."""
    fleet = constants(tree, "Sources/Broker/Topology/FleetTopology.swift")
    ends = {fleet[name] for name in ("unrouted", "dead", "feedback", "suspect", "receipts")}
    exchange, dead = fleet["exchange"], fleet["dead"]
    every = {exchange, *ends, *WORK, *DELAYS}
    gateway = set(constants(tree, "Sources/Gateway/Topology/GatewayTopology.swift").values()) or {
        "pushfleet.gateway.fanout", "pushfleet.gateway.feedback", "pushfleet.gateway.receipts", "pushfleet.events",
        "pushfleet.delivery_status"}
    own = {exchange, *ends, *SNS, *DELAYS, *gateway}
    copies = {exchange, dead, fleet["feedback"], fleet["receipts"], *DELAYS}
    inputs = {fleet["unrouted"], *WORK, *SNS}
    everything = {*every, *gateway, *SNS, "amq.default"}
    table = {
        "publisher": (set(), {exchange}, set()),
        "worker": (set(), copies, inputs),
        "gateway": (own, {*own, "amq.default"}, own - {fleet["suspect"]}),
        "dashboard": (set(), set(), {dead}),
        "desk": (set(), {exchange, dead}, {dead}),
        "provisioner": (everything - {"amq.default"},) * 3,
    }
    for user, rights in table.items():
        for right, reached in zip(("configure", "write", "read"), rights):
            yield user, right, reached, (everything - reached) | set(STRANGERS)


def are_what_is_called(tree):
    found = {entry["user"]: entry for entry in tree.json(DEFINITIONS)["permissions"]}
    table = list(needs(tree))
    for user in found.keys() - {user for user, *_ in table}:
        yield f"nobody says what {user} calls"
    for user, right, reached, others in table:
        pattern = re.compile(found[user][right])
        for name in sorted(reached):
            if not pattern.search(name):
                yield f"{user} may not {right} {name}, and has to"
        for name in sorted(others):
            # ^$ lets nothing but the empty name through, which RabbitMQ asks of nobody.
            if pattern.search(name) and not (name == "" and found[user][right] == "^$"):
                yield f"{user} may {right} {name or 'the empty name'}, and has no need to"


def access(tree):
    """Redis' users by name, each with the words behind it."""
    users = {}
    for line in tree.text(ACCESS).splitlines():
        word, name, *rest = line.split()
        if word != "user" or name in users:
            raise ValueError(f"{ACCESS}: {line[:60]}")
        users[name] = rest
    return users


def redis_is_closed(tree):
    users = access(tree)
    if users.pop("default") != ["off"]:
        yield "default is not off"
    dangerous = {"flushall", "flushdb", "config", "keys", "monitor", "acl", "shutdown", "save", "debug", "module", "script",
                 "function", "replicaof", "migrate", "restore", "dump", "rename", "swapdb", "scan"}
    for name, words in users.items():
        if words[:1] != ["on"] or not words[1].startswith(">"):
            yield f"{name}: not on, or without a password"
        if words[2:5] != ["resetkeys", "resetchannels", "-@all"]:
            yield f"{name}: does not begin with nothing at all"
        for word in words[5:]:
            if word.startswith("+"):
                command = word[1:].split("|")[0]
                if word.startswith("+@") or command in dangerous:
                    yield f"{name}: {word} is too much"
            elif not re.fullmatch(r"(~|%R~)pf:[a-z{}:*]*", word) or (word == "~pf:*" and name != "worker"):
                yield f"{name}: {word} is no pattern of keys for it"
    written = [word for word in users["dashboard"] if word.startswith("~") or word in ("+eval", "+evalsha", "+set", "+hset")]
    if written:
        yield f"dashboard: only reads, but has {' '.join(written)}"
    for name in ("desk", "dashboard", "gateway"):
        if any("token" in word for word in users[name] if word.startswith(("~", "%"))):
            yield f"{name}: could read provider tokens"


def urls_name_users(tree):
    users = {"amqp": {user["name"] for user in tree.json(DEFINITIONS)["users"]}, "redis": set(access(tree))}
    for name in ["deploy/kubernetes/base/secrets.example.yaml"]:
        for scheme, user in re.findall(r"\b(amqp|redis)s?://([a-z]+):", tree.text(name)):
            if user not in users[scheme]:
                yield f"{name}: {scheme} has no user {user}"
        text = re.sub(r"\brediss?://", "redis://", tree.text(name))
        for document in filter(None, text.split("---\n")):
            role = re.search(r"name: pushfleet-([a-z]+)", document)[1]
            allowed = {"worker": {"worker"}, "gateway": {"gateway"}, "dashboard": {"desk", "dashboard"},
                       "topology": {"provisioner", "desk"}}[role]
            for user in re.findall(r"://([a-z]+):", document):
                if user not in allowed:
                    yield f"{name}: {role} comes as {user}"
    for name in tree.glob("deploy/systemd/*.service"):
        for user, kind in re.findall(r"/etc/pushfleet/secrets/([a-z]+)/(amqp|redis)-url", tree.text(name)):
            if user not in users[kind]:
                yield f"{name}: {kind} has no user {user}"
    compose = tree.text("deploy/compose/compose.yaml")
    for kind, user in re.findall(r"\b(amqp|redis)-url-([a-z]+):", compose):
        if user not in users[kind]:
            yield f"compose.yaml: {kind} has no user {user}"


CHECKS = [
    ("rights: RabbitMQ's users and permissions belong together", belong_together),
    ("rights: RabbitMQ's permissions are what each role calls", are_what_is_called),
    ("rights: Redis' users are closed but for what they name", redis_is_closed),
    ("rights: URLs name users that exist", urls_name_users),
]
