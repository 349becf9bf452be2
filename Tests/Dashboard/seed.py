"""Fills a private Redis and RabbitMQ with a made-up fleet, as workers would have written it: counters in all and by minute,
heartbeats, leases and dead letters. Its apps are those that `seed.py --configuration` writes for the configuration.

usage: seed.py [--apps N] [--workers N] [--dead N] --redis PORT --amqp URL
       seed.py [--apps N] --configuration
"""

import argparse
import json
import math
import random
import socket
import time

POOL = "sandbox.TEAM123456.KEY1234567"
LATENCY = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000]
HOSTILE = ["<img src=x onerror=alert(1)>", "a\u202egpj.exe", "\"><svg onload=1>", "x\u001b[31m"]


def names(count):
    return ["com.example.shop"] + [f"com.example.app{number:03}" for number in range(1, count)]


def command(*words):
    data = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in data)


MINUTES = range(-62, 15)


def minutes(options, rng, now):
    """Counters by minute, as deploy/contract/counters.md has them: the last hour, and as much to come as the test may last.
    Gives the commands, and the sums of what is past by lane and app."""
    commands = [command("SET", "pf:{counters}:schema", 1)]
    apps, totals = names(options.apps), {}
    for offset in MINUTES:
        minute = now // 60_000 + offset
        wave = 1 + 0.4 * math.sin(offset / 9) + (1.5 if -21 < offset < -16 else 0)
        slow = 6 if -21 < offset < -16 else 1
        fleet = {"now": {}, "bulk": {}}
        for place, app in enumerate(apps):
            for lane, share in (("now", 1), ("bulk", 0.3)):
                # A quarter of the apps rests in most minutes, and most send little.
                if place % 4 == 3 and rng.random() < 0.7:
                    continue
                received = int(9000 * share * wave * rng.uniform(0.8, 1.2) / (1 + place % 50)) + 1
                retried = received // 40 if slow > 1 else received // 900
                gone, dead = received // 200, received // 400
                fields = {"received": received, "attempts": received + retried, "delivered": received - gone - dead,
                          "tokens_gone": gone, "answered.Unregistered": gone, "dead_lettered": dead,
                          "dead_lettered.suspect_token": dead, "answered.BadDeviceToken": dead, "retried": retried,
                          "retried.TooManyRequests": retried, "answered.TooManyRequests": retried}
                fields = {name: value for name, value in fields.items() if value}
                commands.append(hset(f"pf:{{counters}}:minute:{minute}:{lane}:{app}", fields))
                for name, value in fields.items():
                    fleet[lane][name] = fleet[lane].get(name, 0) + value
                    if offset < 0:
                        total = totals.setdefault((lane, app), {})
                        total[name] = total.get(name, 0) + value
        for lane, fields in fleet.items():
            count = fields.get("received", 0)
            for histogram, base in (("apns_latency", 55), ("dwell", 20), ("end_to_end", 80)):
                fields |= measured(histogram, count, base * slow * rng.uniform(0.9, 1.1))
            if count:
                commands.append(hset(f"pf:{{counters}}:fleet:{minute}:{lane}", fields))
    return commands, totals


def measured(histogram, count, median):
    """A histogram of so many times around a median, with a long tail."""
    fields, below = {}, 0
    for bound in LATENCY:
        share = 0.5 * (bound / median) ** 2 if bound < median else 1 - 0.5 * (median / bound) ** 3
        until = max(below, int(count * share))
        fields[f"{histogram}.le_{bound}"] = until - below
        below = until
    return fields | {f"{histogram}.le_inf": count - below, f"{histogram}.sum": int(count * median), f"{histogram}.count": count}


def hset(key, fields):
    return command("HSET", key, *[word for pair in fields.items() for word in pair])


def fill_redis(options, rng):
    now = int(time.time() * 1000)
    commands, totals = minutes(options, rng, now)
    for (lane, app), counted in totals.items():
        # A day like this hour.
        fields = {name: value * 24 for name, value in counted.items()}
        count = fields["received"]
        for histogram, median in (("apns_latency", 55), ("dwell", 20), ("end_to_end", 80)):
            fields |= measured(histogram, count, median)
        commands.append(hset(f"pf:{{counters}}:of:{lane}:{app}", fields))
        commands.append(command("ZADD", "pf:{counters}:all", now, f"{lane}:{app}"))
    lease = ["meta", f"seed {now} 0", "counts", "40 3 1200 1 0"]
    for place in range(options.workers):
        worker = f"{rng.getrandbits(64):016x}"
        fields = {"version": "1.6.0", "host": HOSTILE[place % 4] if place % 9 == 4 else f"push-{place}", "pid": 4000 + place,
                  "started_at": now - 7_000_000 - place, "last_beat": now, "prefetch": 4000, f"connections_held.{POOL}": 2}
        for app in names(options.apps)[:5]:
            fields[f"in_flight.{app}.now"] = place % 7
        commands.append(hset(f"pf:{{workers}}:of:{worker}", fields))
        commands.append(command("ZADD", "pf:{workers}:all", now, worker))
        lease += [worker, f"2 2 {2 + place % 2} 0 {now + 86_400_000} 0 0 0 400"]
    commands.append(command("ZADD", "pf:{workers}:pools", now, POOL))
    commands.append(command("HSET", f"pf:budget:{{{POOL}}}", *lease))
    with socket.create_connection(("127.0.0.1", options.redis)) as server:
        # In parts: Redis answers each command, and somebody has to read it.
        for start in range(0, len(commands), 1000):
            server.sendall(b"".join(commands[start:start + 1000]) + command("PING"))
            answer = b""
            while not answer.endswith(b"+PONG\r\n"):
                part = server.recv(65536)
                assert part, "Redis hung up"
                answer += part
            assert b"-" not in answer, f"Redis: {answer[answer.index(b'-'):][:200]!r}"


def fill_rabbitmq(options, rng):
    import pika

    connection = pika.BlockingConnection(pika.URLParameters(options.amqp))
    channel = connection.channel()
    now = int(time.time() * 1000)
    apps = names(options.apps)
    kinds = [("apns_rejected", "BadTopic", None, "Apple answered 400 BadTopic"),
             ("suspect_token", "BadDeviceToken", "tokens", "Apple answered 400 BadDeviceToken"),
             ("invalid_field", None, "expires_at", "must be Unix seconds; this looks like milliseconds"),
             ("age_limit", "TooManyRequests", None, "3h old")]
    for place in range(options.dead):
        kind = kinds[rng.choice([0, 1, 1, 1, 2, 3])]
        app, lane = rng.choice(apps), rng.choice(["now", "bulk"])
        died = now - rng.randint(0, 20_000_000)
        headers = {"x-pushfleet-reason": kind[0], "x-pushfleet-detail": HOSTILE[place % 4] if place % 23 == 7 else kind[3],
                   "x-pushfleet-died-at": died, "x-pushfleet-first-seen": died - 60_000, "x-pushfleet-attempt": place % 6,
                   "x-pushfleet-worker": "push-1:4711", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
        if kind[1]:
            headers["x-pushfleet-apns-reason"] = kind[1]
        if kind[2]:
            headers["x-pushfleet-field"] = kind[2]
        body = {"app": app, "tokens": [f"{rng.getrandbits(256):064x}"], "payload": {"aps": {"alert": HOSTILE[place % 4]}}}
        if kind[0] == "invalid_field":
            body["expires_at"] = "soon"
        message_id = HOSTILE[place % 4] if place % 31 == 5 else f"order-{place}"
        channel.basic_publish("pushfleet.dead", f"{app}.{lane}", json.dumps(body).encode(),
                              pika.BasicProperties(message_id=message_id, content_type="application/json", headers=headers,
                                                   delivery_mode=2, timestamp=died // 1000))
    connection.close()
    # Confirms are not awaited, so the queue is.
    connection = pika.BlockingConnection(pika.URLParameters(options.amqp))
    channel = connection.channel()
    end = time.time() + 60
    while channel.queue_declare("pushfleet.dead", passive=True).method.message_count < options.dead:
        assert time.time() < end, "the dead letters did not arrive"
        time.sleep(0.1)
    connection.close()


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("apps", 9), ("workers", 5), ("dead", 60), ("redis", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--amqp")
    parser.add_argument("--configuration", action="store_true")
    options = parser.parse_args()
    if options.configuration:
        for app in names(options.apps):
            print(f"  {app}: {{ credential: main }}")
        return
    rng = random.Random(7)
    fill_redis(options, rng)
    fill_rabbitmq(options, rng)


if __name__ == "__main__":
    main()
