"""What became of a publish, as the gateway tells it: part of gateway.test."""

import json
import os
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import boto3
from botocore.config import Config

ENDPOINT, SIMULATOR = os.environ["ENDPOINT"], os.environ["SIMULATOR"]
COUNT = int(os.environ.get("SUBSCRIBERS", "2500"))

sns = boto3.client(
    "sns",
    endpoint_url=ENDPOINT,
    region_name="eu-west-1",
    aws_access_key_id="AKIAADMIN",
    aws_secret_access_key="admin-secret",
    config=Config(max_pool_connections=16),
)
application = sns.list_platform_applications()["PlatformApplications"][0]["PlatformApplicationArn"]


def simulator(path, method, body):
    request = urllib.request.Request(SIMULATOR + path, data=json.dumps(body).encode(), method=method)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"{}")


def curl(path, *arguments, user="AKIAADMIN:admin-secret"):
    """Status and object."""
    signed = ["--aws-sigv4", "aws:amz:eu-west-1:sns", "--user", user]
    command = ["curl", "-sS", *signed, "-w", "\n%{http_code}", *arguments, ENDPOINT + path]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    body, _, status = text.rpartition("\n")
    return int(status), json.loads(body)


def told(message, wanted, query=""):
    """The first answer that is as wanted."""
    end = time.monotonic() + 90
    while True:
        status, answer = curl(f"/pushfleet/messages/{message}{query}")
        if status == 200 and wanted(answer):
            return answer
        assert time.monotonic() < end, (status, json.dumps(answer)[:2000])
        time.sleep(0.2)


def endpoint(device, **more):
    return sns.create_platform_endpoint(PlatformApplicationArn=application, Token=device, **more)["EndpointArn"]


def is_done(answer):
    return answer["state"] == "done"


# Delivered, and who asks with the endpoint gets its ARN and the apns-id.
device = "5e" * 32
arn = endpoint(device, CustomUserData="messages")
message = sns.publish(TargetArn=arn, Message="x")["MessageId"]
answer = told(message, is_done)
assert device not in json.dumps(answer), answer
assert answer["message_id"] == message and answer["scope"] == "message" and answer["counts"] == {"delivered": 1}, answer
assert answer["coverage"]["trail"] == "on" and answer["coverage"]["since"] and answer["published_at"], answer
(found,) = answer["tokens"]
assert found["token"] == "5e5e…5e5e" and len(found["name"]) == 16 and found["message"] == message, found
assert "endpoint_arn" not in found and "apns_id" not in found, found
(attempt,) = found["attempts"]
assert attempt["status"] == 200 and attempt["number"] == 1 and attempt["latency_ms"] >= 0, attempt
answer = told(message, is_done, "?endpoint=" + quote(arn, safe=""))
assert answer["scope"] == "endpoint" and answer["tokens"][0]["endpoint_arn"] == arn, answer
with urllib.request.urlopen(f"{SIMULATOR}/ledger?token={device}", timeout=60) as ledger:
    entry = json.loads(ledger.read())["entries"][0]
assert answer["tokens"][0]["apns_id"] in json.dumps(entry), (answer, entry)

# To a user.
status, answer = curl("/pushfleet/publish", "-d", json.dumps({"user": "messages", "message": "x"}))
assert status == 200, answer
answer = told(answer["message_id"], is_done)
assert answer["counts"] == {"delivered": 1} and answer["tokens"][0]["message"].endswith(".0.0.0"), answer

# Tried again, behind the answers of a server that has a bad moment.
action = {"type": "answer", "status": 503, "reason": "ServiceUnavailable"}
simulator("/rules", "POST", {"match": {"token_prefix": device, "max": 1}, "action": action})
message = sns.publish(TargetArn=arn, Message="again")["MessageId"]
answer = told(message, is_done)
attempts = answer["tokens"][0]["attempts"]
assert [(each["number"], each["status"]) for each in attempts] == [(1, 503), (2, 200)], answer
assert attempts[0]["reason"] == "ServiceUnavailable", answer

# A dead token.
dead = "d3" * 32
simulator(f"/tokens/{dead}", "PUT", {"state": "unregistered"})
message = sns.publish(TargetArn=endpoint(dead), Message="x")["MessageId"]
answer = told(message, is_done)
assert answer["counts"] == {"gone": 1} and answer["tokens"][0]["attempts"][0]["status"] == 410, answer
assert answer["tokens"][0]["attempts"][0]["reason"] == "Unregistered" and answer["tokens"][0]["invalid_since"], answer

# Scheduled, and cancelled.
due = {"pushfleet.not_before": {"DataType": "Number", "StringValue": str(int(time.time()) + 3600)}}
message = sns.publish(TargetArn=arn, Message="later", MessageAttributes=due)["MessageId"]
assert told(message, lambda answer: True)["state"] == "scheduled"
answer = told(message, lambda answer: answer["counts"] == {"held": 1})
assert answer["state"] == "scheduled" and answer["tokens"][0]["due"], answer
assert curl(f"/pushfleet/messages/{message}", "-X", "DELETE")[0] == 200
assert told(message, lambda answer: True)["state"] == "cancelled"

# A batch to a topic of many, page by page.
topic = sns.create_topic(Name="pages")["TopicArn"]


def subscribe(number):
    sns.subscribe(TopicArn=topic, Protocol="application", Endpoint=endpoint(f"{number:08x}" * 8))


with ThreadPoolExecutor(8) as pool:
    list(pool.map(subscribe, range(2 << 24, (2 << 24) + COUNT)))
batch = sns.publish_batch(TopicArn=topic, PublishBatchRequestEntries=[{"Id": "a", "Message": "to all"}])
message = batch["Successful"][0]["MessageId"]
told(message, lambda answer: answer["fan_out"]["done"])
names, pages, query = set(), 0, ""
while True:
    answer = told(message, is_done, query)
    pages += 1
    assert answer["scope"] == "page" and len(answer["tokens"]) <= 1000, answer["scope"]
    assert answer["counts"] == {"delivered": len(answer["tokens"])}, answer["counts"]
    names |= {each["name"] for each in answer["tokens"]}
    if "next" not in answer:
        break
    query = "?next=" + answer["next"]
assert len(names) == COUNT and pages == -(-COUNT // 1000) == answer["fan_out"]["chunks"], (len(names), pages)

# Nothing found, nonsense, and keys without the right.
status, answer = curl("/pushfleet/messages/00000000-0000-4000-8000-000000000000")
assert status == 404 and answer["code"] == "NotFound" and "The trail begins 20" in answer["message"], answer
for nonsense in ("17", "x" * 36, message + ".0.0.0", ""):
    status, answer = curl("/pushfleet/messages/" + nonsense)
    assert status == 400 and answer["code"] == "InvalidParameter" and "must be a UUID" in answer["message"], answer
for page in ("zz", "39", "2d31"):
    status, answer = curl(f"/pushfleet/messages/{message}?next={page}")
    assert status == 400 and answer["code"] == "InvalidParameter", (page, answer)
status, answer = curl(f"/pushfleet/messages/{message}", user="AKIASHOP:shop-secret")
assert status == 403 and "LookUpMessages" in answer["message"], answer
