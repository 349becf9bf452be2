"""A topic of many while gateways are killed: part of gateway.test. Everybody gets one push, whoever dies."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.config import Config

COUNT = int(os.environ.get("COUNT", "5000"))
SIMULATOR = os.environ["SIMULATOR"]
GATEWAY = os.environ["PUSHFLEET"]


def ask(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def start():
    process = subprocess.Popen([GATEWAY, "gateway", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = process.stdout.readline().strip().partition("=")[2]
    return process, f"http://localhost:{port}"


def ready(place):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            ask(place + "/readyz")
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("it never became ready")


def client(place):
    return boto3.client(
        "sns",
        endpoint_url=place,
        region_name="eu-west-1",
        aws_access_key_id="AKIAADMIN",
        aws_secret_access_key="admin-secret",
        config=Config(max_pool_connections=16),
    )


def accepted():
    return json.loads(ask(SIMULATOR + "/ledger/summary"))["accepted"]


process, place = start()
ready(place)
sns = client(place)
application = sns.list_platform_applications()["PlatformApplications"][0]["PlatformApplicationArn"]
topic = sns.create_topic(Name="crowd")["TopicArn"]

def register(number):
    arn = sns.create_platform_endpoint(PlatformApplicationArn=application, Token=f"{number:08x}" * 8)["EndpointArn"]
    sns.subscribe(TopicArn=topic, Protocol="application", Endpoint=arn)


with ThreadPoolExecutor(16) as pool:
    list(pool.map(register, range(1 << 24, (1 << 24) + COUNT)))
in_the_middle = 0
for delay in (0.01, 0.03, 0.06, 0.1, 0.15):
    before = accepted()
    started = time.monotonic()
    sns.publish(TopicArn=topic, Message=f"to the crowd, {delay}")
    took = time.monotonic() - started
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # What it had published by then arrives without it.
    time.sleep(2)
    reached = accepted() - before
    if reached < COUNT:
        in_the_middle += 1
    process, place = start()
    ready(place)
    sns = client(place)
    end = time.monotonic() + 120
    while accepted() - before < COUNT and time.monotonic() < end:
        time.sleep(0.1)
    # A push too many would come soon.
    time.sleep(2)
    found = accepted() - before
    print(f"{COUNT} subscribers, answered in {took * 1000:.0f} ms, killed when {reached} were reached, {found} pushes in the end", flush=True)
    if found != COUNT:
        sys.exit(1)
process.terminate()
process.wait()
sys.exit(0 if in_the_middle > 0 else 1)
