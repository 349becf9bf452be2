"""A worker in Python with aio-pika and aioapns, as one would write it: for comparison in scripts/bench --peers.

It consumes, decodes, sends to each token and acknowledges. It has no budget, no retries and no counters.
"""

import argparse
import asyncio
import json
import ssl

import aio_pika
import aioapns
from aioapns.connection import APNsDevelopmentClientProtocol


async def main(options):
    APNsDevelopmentClientProtocol.APNS_SERVER = "localhost"
    APNsDevelopmentClientProtocol.APNS_PORT = options.apns_port
    # aioapns leaves it out, and a server may insist (RFC 9113 §3.2).
    tls = ssl.create_default_context(cafile=options.ca)
    tls.set_alpn_protocols(["h2"])
    with open(options.key, encoding="ascii") as file:
        key = file.read()
    apns = aioapns.APNs(
        key=key, key_id=options.key_id, team_id=options.team_id, topic=options.topic, use_sandbox=True,
        max_connections=1, ssl_context=tls)

    async def received(message):
        job = json.loads(message.body)
        results = await asyncio.gather(*(
            apns.send_notification(aioapns.NotificationRequest(device_token=token, message=job["payload"]))
            for token in job["tokens"]))
        if all(result.is_successful for result in results):
            await message.ack()
        else:
            await message.nack(requeue=True)

    connection = await aio_pika.connect(options.amqp_url)
    channel = await connection.channel()
    await channel.set_qos(prefetch_count=options.prefetch)
    queue = await channel.get_queue(options.queue, ensure=False)
    await queue.consume(received)
    await asyncio.Future()


parser = argparse.ArgumentParser()
for name in ("amqp-url", "queue", "key", "key-id", "team-id", "topic", "ca"):
    parser.add_argument(f"--{name}", required=True)
parser.add_argument("--apns-port", type=int, required=True)
parser.add_argument("--prefetch", type=int, required=True)
asyncio.run(main(parser.parse_args()))
