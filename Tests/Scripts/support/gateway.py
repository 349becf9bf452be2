"""The checks of gateway.test that speak through boto3 and aws-cli: one line each, and a failure at the end if any failed."""

import json
import os
import re
import subprocess
import sys
import time
import traceback
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SIMULATOR = os.environ["ENDPOINT"], os.environ["SIMULATOR"]
ACCOUNT = "arn:aws:sns:eu-west-1:123456789012:"
failures = 0


def check(name, body):
    global failures
    try:
        body()
        print(f"ok {name}", flush=True)
    except Exception:
        failures += 1
        traceback.print_exc(file=sys.stdout)
        print(f"FAILED {name}", flush=True)
        witness()


def witness():
    """Shows what may explain a failure: where messages lie, who takes them, and what Apple was sent."""

    def queues():
        command = 'source "$RABBITMQ/env" && rabbitmqctl -q list_queues -p vhost-0 name messages_ready messages_unacknowledged consumers'
        lines = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False).stdout.splitlines()
        # All of the gateway's, and of the others those with something in them.
        return "\n".join(line for line in lines if "gateway" in line or re.search(r"\t[1-9]\d*\t\d+\t\d+$|\t[1-9]\d*\t\d+$", line))

    def metrics():
        with urllib.request.urlopen(ENDPOINT + "/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return "\n".join(line for line in lines if line[0] != "#" and "duration" not in line)

    def endpoint():
        return sns.get_endpoint_attributes(EndpointArn=state["endpoint"])["Attributes"]

    def ledger():
        return json.dumps(simulator(f"/ledger?token={token}"))[-3000:]

    for question in (queues, metrics, endpoint, ledger):
        try:
            print(f"{question.__name__}:\n{question()}", flush=True)
        except Exception as error:  # whatever is away, the others still tell
            print(f"{question.__name__}: {error}", flush=True)


def client(key, secret, **config):
    return boto3.client(
        "sns",
        endpoint_url=ENDPOINT,
        region_name="eu-west-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(**config),
    )


def refused(code, status, text, call, **arguments):
    """The call is refused with exactly this; the text may be a pattern."""
    try:
        call(**arguments)
    except ClientError as error:
        found = error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
        assert found == (code, status), (found, error)
        message = error.response["Error"]["Message"]
        assert message == text or re.fullmatch(text, message), message
        return message
    raise AssertionError("it was not refused")


def simulator(path, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SIMULATOR + path, data=data, method=method)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.loads(answer.read() or b"{}")


def soon(body, limit=60):
    """The first true value."""
    end = time.monotonic() + limit
    while True:
        try:
            value = body()
        except urllib.error.HTTPError:
            value = None
        if value:
            return value
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


def pushes(token):
    """How many the simulator has accepted."""
    return len([entry for entry in simulator("/ledger?token=" + token)["entries"] if entry["status"] == 200])


def last_push(token, text=None, limit=60):
    def find():
        for entry in simulator("/ledger?token=" + token)["entries"]:
            if entry.get("status") == 200 and (text is None or text in json.dumps(entry)):
                return entry
        return None

    return soon(find, limit)


sns = client("AKIAADMIN", "admin-secret")
state = {}
token = "ab" * 32


def make_application(name, bundle):
    """The ARN of a new one."""
    attributes = {
        "PlatformPrincipal": "KEY1234567",
        "PlatformCredential": open(os.environ["KEY"]).read(),
        "ApplePlatformTeamID": "TEAM123456",
        "ApplePlatformBundleID": bundle,
    }
    created = sns.create_platform_application(Name=name, Platform="APNS_SANDBOX", Attributes=attributes)
    return created["PlatformApplicationArn"]


def application():
    state["app"] = make_application("Shop", "com.example.shop")
    assert state["app"] == ACCOUNT + "app/APNS_SANDBOX/Shop", state["app"]
    found = sns.get_platform_application_attributes(PlatformApplicationArn=state["app"])["Attributes"]
    assert found["Enabled"] == "true" and found["AuthenticationMethod"] == "token", found
    assert "PlatformCredential" not in found and "PlatformPrincipal" not in found
    listed = sns.list_platform_applications()["PlatformApplications"]
    assert [entry["PlatformApplicationArn"] for entry in listed] == [state["app"]]


def endpoint():
    created = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=token.upper())
    state["endpoint"] = created["EndpointArn"]
    again = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=token)
    assert again["EndpointArn"] == state["endpoint"]
    found = sns.get_endpoint_attributes(EndpointArn=state["endpoint"])["Attributes"]
    assert found == {"Token": token, "Enabled": "true"}, found
    text = f"Invalid parameter: Token Reason: Endpoint {state['endpoint']} already exists with the same Token, but different attributes."
    refused(
        "InvalidParameter",
        400,
        text,
        sns.create_platform_endpoint,
        PlatformApplicationArn=state["app"],
        Token=token,
        CustomUserData="u",
    )


def publish():
    published = sns.publish(
        TargetArn=state["endpoint"],
        MessageStructure="json",
        Message=json.dumps({"default": "d", "APNS_SANDBOX": json.dumps({"aps": {"alert": "Grüße", "badge": 3}, "k": [1]})}),
        MessageAttributes={
            "AWS.SNS.MOBILE.APNS.COLLAPSE_ID": {"DataType": "String", "StringValue": "order-17"},
            "AWS.SNS.MOBILE.APNS.PRIORITY": {"DataType": "String", "StringValue": "5"},
            "AWS.SNS.MOBILE.APNS_SANDBOX.TTL": {"DataType": "Number", "StringValue": "600"},
        },
    )
    assert re.fullmatch(r"[0-9a-f-]{36}", published["MessageId"])
    simulator(f"/tokens/{token}/last?wait=60s")
    entry = last_push(token)
    state["entry"] = entry
    headers = {key: value for key, value in entry.items()}
    assert headers["topic"] == "com.example.shop", entry
    assert "order-17" in json.dumps(entry), entry
    push = simulator(f"/tokens/{token}/last")
    body = push.get("payload") or push.get("body")
    if isinstance(body, str):
        body = json.loads(body)
    assert body == {"aps": {"alert": "Grüße", "badge": 3}, "k": [1]}, push


def plain():
    sns.publish(TargetArn=state["endpoint"], Message="Hello plain")
    soon(lambda: "Hello plain" in json.dumps(simulator(f"/tokens/{token}/last")))


def dies():
    simulator(f"/tokens/{token}", "PUT", {"state": "unregistered"})
    sns.publish(TargetArn=state["endpoint"], Message="Are you there?")

    def disabled():
        return sns.get_endpoint_attributes(EndpointArn=state["endpoint"])["Attributes"]["Enabled"] == "false"

    soon(disabled)
    refused("EndpointDisabled", 400, "Endpoint is disabled", sns.publish, TargetArn=state["endpoint"], Message="x")
    refused(
        "EndpointDisabled", 400, "Endpoint is disabled", sns.publish, TargetArn=state["endpoint"], Message="x", MessageStructure="json"
    )


def comes_back():
    simulator(f"/tokens/{token}", "PUT", {"state": "active"})
    sns.set_endpoint_attributes(EndpointArn=state["endpoint"], Attributes={"Enabled": "true", "Token": token})
    sns.publish(TargetArn=state["endpoint"], Message="Welcome back")
    soon(lambda: "Welcome back" in json.dumps(simulator(f"/tokens/{token}/last")))


def register(known, device, user):
    """What Amazon recommends to backends: get, compare, set; create on NotFound; the ARN out of the conflict. How often it wrote."""
    own = client("AKIAADMIN", "admin-secret")
    writes = 0

    def create():
        nonlocal writes
        writes += 1
        try:
            return own.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device, CustomUserData=user)["EndpointArn"]
        except own.exceptions.InvalidParameterException as error:
            found = re.search(r".*Endpoint (arn:aws:sns[^ ]+) already exists with the same Token.*", str(error))
            if not found:
                raise
            return found.group(1)

    arn = known or create()
    try:
        attributes = own.get_endpoint_attributes(EndpointArn=arn)["Attributes"]
    except own.exceptions.NotFoundException:
        arn = create()
        attributes = own.get_endpoint_attributes(EndpointArn=arn)["Attributes"]
    wanted = {"Token": device, "Enabled": "true", "CustomUserData": user}
    if attributes != wanted:
        writes += 1
        own.set_endpoint_attributes(EndpointArn=arn, Attributes=wanted)
    return arn, writes


def registration():
    gone = ACCOUNT + "endpoint/APNS_SANDBOX/Shop/00000000-0000-3000-8000-000000000000"

    def nothing(device):
        return None

    def deleted(device):
        return gone

    def other_user(device):
        sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device, CustomUserData="somebody")

    def disabled(device):
        arn = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device)["EndpointArn"]
        sns.set_endpoint_attributes(EndpointArn=arn, Attributes={"Enabled": "false"})
        return arn

    def other_token(device):
        return sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token="9" + device[1:])["EndpointArn"]

    for number, start in enumerate([nothing, deleted, other_user, disabled, other_token]):
        device = f"{number:02x}" * 32
        known = start(device)
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda _: register(known, device, "me"), range(8)))
        arns = {arn for arn, _ in results}
        assert len(arns) == 1, (start.__name__, arns)
        arn = arns.pop()
        found = sns.get_endpoint_attributes(EndpointArn=arn)["Attributes"]
        assert found == {"Token": device, "Enabled": "true", "CustomUserData": "me"}, (start.__name__, found)
        assert register(arn, device, "me") == (arn, 0), start.__name__


def topic():
    state["topic"] = sns.create_topic(Name="news", Tags=[{"Key": "a", "Value": "b"}])["TopicArn"]
    devices = [f"{number:064x}" for number in range(1, 31)]
    for number, device in enumerate(devices):
        arn = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device)["EndpointArn"]
        attributes = {"FilterPolicy": json.dumps({"kind": ["big"]})} if number % 2 else {}
        sns.subscribe(TopicArn=state["topic"], Protocol="application", Endpoint=arn, Attributes=attributes)
    sns.publish(
        TopicArn=state["topic"],
        Message="to some",
        MessageAttributes={"kind": {"DataType": "String", "StringValue": "small"}},
    )
    for device in devices[0::2]:
        soon(lambda: "to some" in json.dumps(simulator(f"/tokens/{device}/last")))
    for device in devices[1::2]:
        assert not simulator("/ledger?token=" + device)["entries"], device
    sns.publish(TopicArn=state["topic"], Message="to all", MessageAttributes={"kind": {"DataType": "String", "StringValue": "big"}})
    for device in devices:
        soon(lambda: "to all" in json.dumps(simulator(f"/tokens/{device}/last")))


def batch():
    device = f"{1:064x}"
    before = pushes(device)
    entries = [{"Id": f"e{number}", "Message": f"batch {number}"} for number in range(3)]
    answer = sns.publish_batch(TopicArn=state["topic"], PublishBatchRequestEntries=entries)
    assert [entry["Id"] for entry in answer["Successful"]] == ["e0", "e1", "e2"] and not answer["Failed"], answer
    soon(lambda: pushes(device) == before + 3)


def once():
    """An SDK that tries a call again sends one push."""
    captured = []

    def capture(request, **_):
        captured.append(request)

    own = client("AKIAADMIN", "admin-secret")
    before = pushes(token)
    own.meta.events.register("before-send.sns.Publish", capture)
    first = own.publish(TargetArn=state["endpoint"], Message="only once")["MessageId"]
    request = captured[0]
    data = request.body if isinstance(request.body, bytes) else request.body.encode()
    headers = {key: value.decode() if isinstance(value, bytes) else value for key, value in request.headers.items()}
    again = urllib.request.Request(request.url, data=data, headers=headers, method="POST")
    with urllib.request.urlopen(again, timeout=60) as answer:
        assert first in answer.read().decode()
    sns.publish(TargetArn=state["endpoint"], Message="the next one")
    soon(lambda: "the next one" in json.dumps(simulator(f"/tokens/{token}/last")))
    assert pushes(token) == before + 2


def rights():
    shop = client("AKIASHOP", "shop-secret")
    shop.publish(TargetArn=state["endpoint"], Message="allowed")
    text = r"User: arn:aws:iam::123456789012:user/shop is not authorized to perform: SNS:DeleteTopic on resource: " + re.escape(state["topic"])
    refused("AuthorizationError", 403, text, shop.delete_topic, TopicArn=state["topic"])
    wrong = client("AKIASHOP", "not-it")
    refused("SignatureDoesNotMatch", 403, r"The request signature we calculated.*", wrong.list_topics)
    nobody = client("AKIANOBODY", "x")
    refused("InvalidClientTokenId", 403, "The security token included in the request is invalid.", nobody.list_topics)


def rate():
    slow = client("AKIASLOW", "slow-secret", retries={"max_attempts": 1, "mode": "standard"})

    def burst():
        for _ in range(10):
            slow.list_topics()

    refused("Throttling", 400, "Rate exceeded", burst)


def command_line():
    environment = dict(os.environ, AWS_ACCESS_KEY_ID="AKIAADMIN", AWS_SECRET_ACCESS_KEY="admin-secret", AWS_DEFAULT_REGION="eu-west-1")

    def aws(*arguments):
        command = [os.environ["AWS"], "--endpoint-url", ENDPOINT, "--output", "json", "sns", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "{}")

    assert state["topic"] in [entry["TopicArn"] for entry in aws("list-topics")["Topics"]]
    aws("publish", "--target-arn", state["endpoint"], "--message", "from the shell")
    soon(lambda: "from the shell" in json.dumps(simulator(f"/tokens/{token}/last")))
    found = aws("get-endpoint-attributes", "--endpoint-arn", state["endpoint"])
    assert found["Attributes"]["Enabled"] == "true"


def beyond():
    """What SNS has no call for; curl signs it."""

    def curl(path, *arguments):
        command = ["curl", "-sS", "--aws-sigv4", "aws:amz:eu-west-1:sns", "--user", "AKIAADMIN:admin-secret", *arguments, ENDPOINT + path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return json.loads(done.stdout)

    arn = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token="cc" * 32, CustomUserData="user-7")["EndpointArn"]
    found = curl("/pushfleet/endpoints?application=" + quote(state["app"], safe="") + "&token=" + "cc" * 32)
    assert found["endpoint_arn"] == arn and found["custom_user_data"] == "user-7", found
    assert [entry["endpoint_arn"] for entry in curl("/pushfleet/endpoints?user=user-7")["endpoints"]] == [arn]
    subscribed = sns.subscribe(TopicArn=state["topic"], Protocol="application", Endpoint=arn)["SubscriptionArn"]
    assert curl("/pushfleet/subscriptions?endpoint=" + quote(arn, safe=""))["subscriptions"] == [subscribed]
    order = json.dumps({"user": "user-7", "message": "to the user", "attributes": {"AWS.SNS.MOBILE.APNS.COLLAPSE_ID": "u7"}})
    assert curl("/pushfleet/publish", "-d", order)["devices"] == 1
    soon(lambda: "to the user" in json.dumps(simulator(f"/tokens/{'cc' * 32}/last")))
    later = {"pushfleet.not_before": {"DataType": "Number", "StringValue": str(int(time.time()) + 4)}}
    sns.publish(TargetArn=arn, Message="in its time", MessageAttributes=later)
    before = time.monotonic()
    soon(lambda: "in its time" in json.dumps(simulator(f"/tokens/{'cc' * 32}/last")))
    assert time.monotonic() - before > 2
    sns.set_endpoint_attributes(EndpointArn=arn, Attributes={"Enabled": "false"})
    assert curl("/pushfleet/purge?disabled_for=0", "-X", "POST")["endpoints"] == [arn]
    refused("NotFound", 404, "Endpoint does not exist", sns.get_endpoint_attributes, EndpointArn=arn)


def tokens_of(pages):
    return [entry["Attributes"]["Token"] for page in pages for entry in page["Endpoints"]]


def pages():
    names = [f"page-{number:03}" for number in range(230)]
    with ThreadPoolExecutor(8) as pool:
        arns = list(pool.map(lambda name: sns.create_topic(Name=name)["TopicArn"], names))
        devices = [f"{number:02x}" + "ee" * 31 for number in range(230)]
        list(pool.map(lambda device: sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device), devices))
    found = [page["Topics"] for page in sns.get_paginator("list_topics").paginate()]
    assert all(len(page) <= 100 for page in found), [len(page) for page in found]
    listed = [entry["TopicArn"] for page in found for entry in page]
    assert len(listed) == len(set(listed)) and set(arns) < set(listed), len(listed)
    paginator = sns.get_paginator("list_endpoints_by_platform_application")
    listed = tokens_of(paginator.paginate(PlatformApplicationArn=state["app"]))
    assert len(listed) == len(set(listed)) and set(devices) < set(listed), len(listed)
    refused("InvalidParameter", 400, ".*NextToken.*", sns.list_topics, NextToken="zz")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda arn: sns.delete_topic(TopicArn=arn), arns))
    listed = [entry["TopicArn"] for page in sns.get_paginator("list_topics").paginate() for entry in page["Topics"]]
    assert not set(arns) & set(listed)


def presigned():
    url = sns.generate_presigned_url("list_topics", HttpMethod="GET")
    with urllib.request.urlopen(url, timeout=60) as answer:
        assert state["topic"] in answer.read().decode()
    try:
        urllib.request.urlopen(url.replace("ListTopics", "ListSubscriptions"), timeout=60)
        raise AssertionError("what was not signed was answered")
    except urllib.error.HTTPError as error:
        assert error.code == 403 and "SignatureDoesNotMatch" in error.read().decode()
    url = sns.generate_presigned_url("publish", Params={"TargetArn": state["endpoint"], "Message": "signed before"})
    with urllib.request.urlopen(urllib.request.Request(url, data=b"", method="POST"), timeout=60) as answer:
        assert "MessageId" in answer.read().decode()
    soon(lambda: "signed before" in json.dumps(simulator(f"/tokens/{token}/last")))


def text(value):
    return {"DataType": "String", "StringValue": value}


def headers():
    """Apple's own headers, Live Activities and channels."""
    device = "1a" * 32
    arn = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device)["EndpointArn"]
    own = {"apns-collapse-id": text("own-1"), "apns-priority": text("5"), "apns-push-type": text("background")}
    silent = json.dumps({"APNS_SANDBOX": json.dumps({"aps": {"content-available": 1}})})
    sns.publish(TargetArn=arn, MessageStructure="json", Message=silent, MessageAttributes=own)
    entry = last_push(device)
    assert entry["push_type"] == "background" and entry["priority"] == 5 and "own-1" in json.dumps(entry), entry

    def activity(**aps):
        return json.dumps({"APNS_SANDBOX": json.dumps({"aps": {"event": "update", "content-state": {"eta": 5}, **aps}})})

    device = "1b" * 32
    arn = sns.create_platform_endpoint(PlatformApplicationArn=state["app"], Token=device)["EndpointArn"]
    live = {"pushfleet.live_activity": text("update")}
    update = activity(timestamp=int(time.time()))
    sns.publish(TargetArn=arn, MessageStructure="json", Message=update, MessageAttributes=live)
    entry = last_push(device)
    assert entry["push_type"] == "liveactivity" and entry["priority"] == 10, entry
    assert entry["topic"] == "com.example.shop.push-type.liveactivity", entry
    call = {"TargetArn": arn, "MessageStructure": "json", "Message": activity(), "MessageAttributes": live}
    refused("InvalidParameter", 400, r".*Invalid Live Activity: payload\.aps.*", sns.publish, **call)

    channel = "bWF0Y2g="
    simulator("/channels", "POST", {"bundle_id": "com.example.shop", "channel": channel, "storage": "newest"})
    to_all = {"AWS.SNS.MOBILE.APNS.CHANNEL_ID": text(channel)}
    sns.publish(TargetArn=arn, MessageStructure="json", Message=update, MessageAttributes=to_all)
    place = "/channels/last?bundle_id=com.example.shop&channel=" + quote(channel, safe="")
    soon(lambda: "content-state" in json.dumps(simulator(place)))
    assert pushes(device) == 1, "a channel's message is no push to the device"


def deleted():
    """An application takes its endpoints along, and a topic its tags."""
    other = make_application("Other", "com.example.other")
    arn = sns.create_platform_endpoint(PlatformApplicationArn=other, Token="dd" * 32)["EndpointArn"]
    for _ in range(2):
        sns.delete_platform_application(PlatformApplicationArn=other)
    missing = "PlatformApplication does not exist"
    refused("NotFound", 404, missing, sns.list_endpoints_by_platform_application, PlatformApplicationArn=other)
    refused("NotFound", 404, missing, sns.get_platform_application_attributes, PlatformApplicationArn=other)
    refused("NotFound", 404, "Endpoint does not exist", sns.get_endpoint_attributes, EndpointArn=arn)
    topic = sns.create_topic(Name="tagged", Tags=[{"Key": "a", "Value": "1"}])["TopicArn"]
    sns.tag_resource(ResourceArn=topic, Tags=[{"Key": "b", "Value": "2"}])
    sns.untag_resource(ResourceArn=topic, TagKeys=["a", "never"])
    assert sns.list_tags_for_resource(ResourceArn=topic)["Tags"] == [{"Key": "b", "Value": "2"}]
    sns.delete_topic(TopicArn=topic)
    refused("ResourceNotFound", 404, "Resource does not exist", sns.list_tags_for_resource, ResourceArn=topic)


def texts():
    missing = ACCOUNT + "endpoint/APNS_SANDBOX/Shop/12345678-1234-3234-8234-123456789012"
    text = "Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified"
    refused("InvalidParameter", 400, text, sns.publish, TargetArn=missing, Message="x")
    refused("NotFound", 404, "Endpoint does not exist", sns.get_endpoint_attributes, EndpointArn=missing)
    refused("NotFound", 404, "Topic does not exist", sns.publish, TopicArn=ACCOUNT + "none", Message="x")
    refused("InvalidParameter", 400, "Invalid parameter: Empty message", sns.publish, TopicArn=state["topic"], Message="")
    refused("InvalidParameter", 400, "Invalid parameter: Message too long", sns.publish, TopicArn=state["topic"], Message="x" * 300_000)
    text = "Invalid parameter: Message Structure - No default entry in JSON message body"
    refused("InvalidParameter", 400, text, sns.publish, TopicArn=state["topic"], Message="{}", MessageStructure="json")
    text = "Invalid parameter: Message Reason: Invalid notification for protocol APNS_SANDBOX: Notification is too long"
    long = json.dumps({"APNS_SANDBOX": json.dumps({"aps": {"alert": "y" * 4200}})})
    refused("InvalidParameter", 400, text, sns.publish, TargetArn=state["endpoint"], Message=long, MessageStructure="json")


check("an application is made, and its credentials stay inside", application)
check("an endpoint is made once, and a conflict names it", endpoint)
check("a publish reaches Apple with its headers and body", publish)
check("a plain text becomes an alert", plain)
check("a token that dies disables its endpoint, and publishing is refused", dies)
check("registered again it is delivered again", comes_back)
check("the registration that Amazon recommends converges, with eight at once", registration)
check("a topic reaches its subscribers by their filter policies", topic)
check("a batch", batch)
check("a call that an SDK tries again is one push", once)
check("keys, rights and signatures", rights)
check("the rate of a key", rate)
check("the aws command line", command_line)
check("what SNS has no call for", beyond)
check("lists come page by page, all of it and nothing twice", pages)
check("what was signed before, by URL", presigned)
check("Apple's own headers, a Live Activity, a channel", headers)
check("what is deleted takes along what belongs to it", deleted)
check("what is refused is refused in Amazon's words", texts)
sys.exit(1 if failures else 0)
