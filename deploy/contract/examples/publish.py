#!/usr/bin/env python3
"""Publishes one push message to PushFleet and waits until RabbitMQ has it safely.

Needs pika (apt install python3-pika, or pip install pika).
Run: AMQP_URL=amqps://user:password@rabbitmq.example.com/%2F python3 publish.py
"""
import json
import os
import sys
import time
import uuid

import pika

APP = "com.example.shop"
LANE = "now"  # or "bulk"

message_id = str(uuid.uuid4())
body = {
    "app": APP,
    "tokens": ["00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"],
    "push_type": "alert",
    "priority": 10,
    "collapse_id": "order-17",
    "expires_at": int(time.time()) + 3600,
    "payload": {"aps": {"alert": {"title": "On its way", "body": "Order 17 has left our house."}}},
}

try:
    url = os.environ.get("AMQP_URL", "amqp://guest:guest@localhost:5672/%2F")
    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        channel = connection.channel()
        # From here on basic_publish waits for the confirm and raises if there is none.
        channel.confirm_delivery()
        channel.basic_publish(
            exchange="pushfleet",
            routing_key=f"{APP}.{LANE}",
            body=json.dumps(body, ensure_ascii=False).encode(),
            properties=pika.BasicProperties(
                message_id=message_id,
                timestamp=int(time.time()),
                content_type="application/json",
                delivery_mode=2,  # persistent
            ),
            mandatory=True,  # unroutable is an error: the app has no queue
        )
except pika.exceptions.AMQPError as error:
    # Publish again with the same message_id: it stays one push.
    sys.exit(f"not published: {error!r}")

print(message_id)
