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


def application():
    attributes = {
        "PlatformPrincipal": "KEY1234567",
        "PlatformCredential": open(os.environ["KEY"]).read(),
        "ApplePlatformTeamID": "TEAM123456",
        "ApplePlatformBundleID": "com.example.shop",
    }
    created = sns.create_platform_application(Name="Shop", Platform="APNS_SANDBOX", Attributes=attributes)
    state["app"] = created["PlatformApplicationArn"]
    assert state["app"] == ACCOUNT + "app/APNS_SANDBOX/Shop", created
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
check("what is refused is refused in Amazon's words", texts)
sys.exit(1 if failures else 0)
