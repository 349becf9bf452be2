"""A made-up fleet of any size, in the words of deploy/dashboard/openapi.yaml. Hostile strings stand among the names."""

import json
import math
import random
import time

from reasons import ANSWERS, LETTERS

HOSTILE = [
    "<img src=x onerror=\"window.__hit='img';alert(1)\">",
    "<script>window.__hit='script';alert(2)</script>",
    "\"><svg onload=\"window.__hit='svg'\">",
    "javascript:window.__hit='url'",
    "com.example.\u202egpj.exe",
    "a\u0000b\u001b[31mred\r\nSet-Cookie: x=1",
    "' onfocus=window.__hit='attribute' autofocus='",
    "{{constructor.constructor('window.__hit=1')()}}",
    "W" * 180,
    "</textarea></pre><iframe srcdoc=\"<script>parent.__hit='frame'</script>\">",
    "__proto__",
]
HOUR = 3_600_000


def now_ms():
    return int(time.time() * 1000)


class Fleet:
    """Everything that the mock serves. Numbers move with the clock, so that a live page has something to show."""

    def __init__(self, apps=8, workers=3, dead=40, seed=1, hostile=True):
        self.random = random.Random(seed)
        self.began = now_ms()
        self.jobs, self.actions, self.next_job = [], [], 1
        self.draining = set()
        self.pools = self._pools(apps)
        self.apps = self._apps(apps, hostile)
        self.workers = self._workers(workers, hostile)
        self.dead = self._dead(dead, hostile)
        # Counted with integers that only grow, so that two looks differ.
        self.levels = [500, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000]

    # MARK: What there is

    def _pools(self, apps):
        pools = ["{production.ABCDE12345.KEY1234567}", "{sandbox.ABCDE12345.KEY7654321}"]
        pools += [f"{{production.UID=com.example.app{n}}}" for n in range(apps // 60)]
        return pools

    def _apps(self, count, hostile):
        names = ["com.example.shop", "com.example.news", "com.example.chat", "com.example.bank", "com.example.maps"]
        names += [f"com.example.app{n:03}" for n in range(len(names), count)]
        names = names[:count]
        if hostile:
            for place, text in enumerate(HOSTILE[: max(0, count - 5)]):
                names[-1 - place] = text
        result = {}
        for place, name in enumerate(names):
            weight = self.random.paretovariate(1.1)
            pool = self.random.choices(range(len(self.pools)), [50, 8] + [1] * (len(self.pools) - 2))[0]
            result[name] = {
                "app": name,
                "origin": "redis" if place % 7 == 6 else "file",
                "credential": "main" if pool == 0 else "development" if pool == 1 else f"certificate-{pool - 1}",
                "environment": "sandbox" if pool == 1 else "production",
                "pool": self.pools[pool],
                "rate": min(9000, int(40 * weight)),
                "waiting": int(weight * 3) if place % 4 else 0,
                "failing": 0.08 if place % 9 == 4 else 0.004,
            }
        quiet = list(result.values())
        for place, cause in ((3, "credential"), (6, "suspects"), (11, "hand")):
            if place < len(quiet):
                quiet[place]["paused"] = {
                    "app": quiet[place]["app"], "cause": cause, "since_ms": self.began - 840_000 - place * 61_000,
                    "by": "lena" if cause == "hand" else "worker-2/4711", "reason": "wrong campaign, see #4711"
                    if cause == "hand" else "403 InvalidProviderToken" if cause == "credential"
                    else "512 of 1000 answers BadDeviceToken",
                }
                if cause != "hand":
                    quiet[place]["paused"]["until_ms"] = self.began + 45_000
                quiet[place]["waiting"] = 12_400 + place * 977
        return result

    def _workers(self, count, hostile):
        result = {}
        for place in range(count):
            worker = f"{self.random.getrandbits(64):016x}"
            held = {pool: self.random.randint(1, 3) for pool in self.pools[: 2 if place % 3 else len(self.pools)]}
            host = HOSTILE[place % len(HOSTILE)] if hostile and place % 17 == 5 else f"push-{place % 10}.example.net"
            result[worker] = {
                "id": worker, "host": host, "pid": 4000 + place * 13, "version": "1.6.0" if place % 11 else "1.5.2",
                "started_at_ms": self.began - (place + 1) * 7_919_000, "connections_held": held,
                "prefetch": 4000, "paused": {}, "wanted": sum(held.values()) + (place % 4 == 0),
            }
        return result

    def _dead(self, count, hostile):
        names, result = list(self.apps), []
        kinds = [
            ("apns_rejected", "BadTopic", None, "Apple answered 400 BadTopic"),
            ("suspect_token", "BadDeviceToken", "tokens", "Apple answered 400 BadDeviceToken"),
            ("age_limit", "TooManyRequests", None, "3h old, and the next attempt would have been 10m later"),
            ("payload_too_large", None, "payload", "4,312 bytes; Apple takes 4,096"),
            ("invalid_field", None, "expires_at", "must be Unix seconds; this looks like milliseconds"),
            ("unknown_app", None, "app", "no such app; did you mean com.example.shop?"),
            ("expired", None, "expires_at", "passed 12s before the next attempt"),
            ("invalid_json", None, None, "byte 212: a comma or } was expected"),
        ]
        for place in range(count):
            kind = self.random.choices(kinds, [9, 30, 22, 6, 5, 3, 20, 2])[0]
            evil = hostile and place % 23 == 7
            died = self.began - int(self.random.expovariate(1 / (6 * HOUR)))
            letter = {
                "id": f"d{place:06}", "message_id": f"order-{100000 + place}", "app": self.random.choice(names),
                "lane": self.random.choice(["now", "bulk"]), "reason": kind[0], "detail": kind[3],
                "attempt": self.random.randint(0, 9), "tokens": self.random.choice([1, 1, 1, 40]),
                "first_seen_ms": died - self.random.randint(50, 3 * HOUR), "died_at_ms": died,
            }
            if kind[1]:
                letter["apns_reason"] = kind[1]
            if kind[2]:
                letter["field"] = kind[2]
            if evil:
                letter["message_id"] = HOSTILE[place % len(HOSTILE)]
                letter["detail"] = HOSTILE[(place + 3) % len(HOSTILE)]
                if place % 2:
                    letter["apns_reason"] = HOSTILE[(place + 1) % len(HOSTILE)]
            if kind[0] == "invalid_json":
                for name in ("tokens", "app"):
                    letter.pop(name)
            result.append(letter)
        result.sort(key=lambda letter: (-letter["died_at_ms"], letter["id"]))
        return {letter["id"]: letter for letter in result}

    # MARK: Numbers that move

    def minutes(self, rate, count=60, noise=0.12, seed=0):
        """Pushes in each of the last whole minutes; the same for the same minute."""
        end = now_ms() // 60_000
        values = []
        for minute in range(end - count, end):
            chance = random.Random(f"{seed}{minute}").uniform(-noise, noise)
            values.append(max(0, int(60 * rate * (1 + 0.35 * math.sin(minute / 9) + chance))))
        return values

    def app(self, item):
        sent = self.minutes(0 if "paused" in item else item["rate"], 30, 0.3, item["app"])
        result = {name: item[name] for name in ("app", "origin", "credential", "environment", "waiting")}
        result |= {
            "in_flight": 0 if "paused" in item else item["rate"] // 11, "delivered_minute": sent[-1], "series": sent,
            "retried_hour": int(sum(sent) * item["failing"] * 3), "dead_lettered_hour": int(sum(sent) * item["failing"] / 8),
        }
        if "paused" in item:
            result["paused"] = item["paused"]
        if item["waiting"]:
            result["oldest_ms"] = 840_000 if "paused" in item else item["waiting"] * 17
        return result

    @staticmethod
    def latency(count, scale=1.0):
        return {"count": count, "mean_ms": 58.2 * scale, "p50_ms": 44.0 * scale, "p95_ms": 131.5 * scale,
                "p99_ms": 288.0 * scale}

    def app_detail(self, name):
        item = self.apps[name]
        result = self.app(item)
        sent = self.minutes(0 if "paused" in item else item["rate"], 60, 0.3, name)
        lanes = []
        for lane, share in (("now", 0.7), ("bulk", 0.3)):
            total = int(sum(sent) * share * 40)
            lanes.append({
                "app": name, "lane": lane, "in_flight": int(result["in_flight"] * share), "consumers": len(self.workers),
                "waiting": int(item["waiting"] * share), "apns_latency": self.latency(total),
                "end_to_end": self.latency(total, 2.4),
                "counters": {"received": total, "delivered": int(total * 0.98), "retried": int(total * item["failing"]),
                             "dead_lettered": int(total * item["failing"] / 8), "tokens_gone": total // 300,
                             "possible_duplicates": total // 90_000, "rate_limited": 0},
                "retried_by_reason": {"TooManyRequests": total // 200, "InternalServerError": total // 900},
                "dead_lettered_by_reason": {"suspect_token": total // 1000},
            })
        result |= {
            "time_ms": now_ms(), "lanes": lanes,
            "settings": {"bundle_id": name, "credential": item["credential"], "rate": "200", "weight": "1",
                         "retry.min_backoff": "10s", "retry.max_backoff": "10m", "retry.age_limit": "3h",
                         "breaker.threshold": "50", "lint": "off", "fit": "reject"},
            "minutes": self.series(sent), "reasons": self.reason_counts(sum(sent) // 200),
        }
        return result

    def series(self, sent):
        end = now_ms() // 60_000 * 60_000
        wave = self.minutes(1, len(sent), 0.4, "wave")
        return {
            "start_ms": end - len(sent) * 60_000, "step_ms": 60_000, "received": [int(value * 0.99) for value in sent],
            "delivered": sent, "retried": [int(value * 0.012) for value in sent],
            "dead_lettered": [int(value * 0.0007) for value in sent],
            "apns_p50_ms": [38 + value / 9 for value in wave], "apns_p99_ms": [180 + value * 2.5 for value in wave],
            "oldest_ms": [400 + value * 21 for value in wave[:-3]] + [None, None, wave[-1] * 25],
        }

    def reason_counts(self, scale):
        rows = [("TooManyRequests", "answered", 0.5), ("BadDeviceToken", "answered", 0.3), ("Unregistered", "answered", 0.9),
                ("InternalServerError", "retried", 0.05), ("timeout", "unanswered", 0.02),
                ("suspect_token", "dead_lettered", 0.1), ("expired", "dead_lettered", 0.04), (HOSTILE[0], "answered", 0.01)]
        result = [{"reason": name, "kind": kind, "hour": int(scale * share), "total": int(scale * share * 211)}
                  for name, kind, share in rows]
        return sorted((row for row in result if row["total"]), key=lambda row: -row["hour"])

    def overview(self, sources):
        apps = [self.app(item) for item in self.apps.values()]
        total = sum(item["rate"] for item in self.apps.values() if "paused" not in item)
        sent = self.minutes(total)
        series = self.series(sent)

        def counts(share):
            hour = int(sum(sent) * share)
            return {"minute": int(sent[-1] * share), "hour": hour, "total": hour * 217}

        result = {"time_ms": now_ms(), "sources": sources, "findings": self.findings(apps, sources)}
        if sources["redis"]["ok"]:
            result |= {
                "outcomes": {
                    "received": counts(0.99), "delivered": counts(1), "retried": counts(0.012),
                    "dead_lettered": counts(0.0007), "expired": counts(0.0002), "tokens_gone": counts(0.003),
                    "suspect_tokens": counts(0.0003), "possible_duplicates": counts(0.00001),
                },
                "series": series, "apns_latency": self.latency(sum(sent)), "end_to_end": self.latency(sum(sent), 2.4),
                "reasons": self.reason_counts(sum(sent) // 200),
                "busiest": [{"app": app["app"], "delivered_minute": app["delivered_minute"], "waiting": app["waiting"],
                             "series": app["series"]}
                            for app in sorted(apps, key=lambda app: -app["delivered_minute"])[:6]],
                "counts": {
                    "apps": len(apps), "paused_apps": sum("paused" in app for app in apps), "workers": len(self.workers),
                    "connections_held": sum(sum(worker["connections_held"].values()) for worker in self.workers.values()),
                    "connections_allowed": sum(item["configured"] for item in self.budgets()),
                    "in_flight": sum(app["in_flight"] for app in apps),
                },
            }
        if sources["rabbitmq"]["ok"]:
            result.setdefault("counts", {}).update(
                waiting=sum(app["waiting"] for app in apps), delayed=sum(self.level(delay) for delay in self.levels),
                dead=len(self.dead))
            result["oldest"] = {"now_ms": 640 + now_ms() % 900, "bulk_ms": 840_000, "delayed_ms": 512_000}
            if self.dead:
                result["oldest"]["dead_ms"] = now_ms() - min(letter["died_at_ms"] for letter in self.dead.values())
        return result

    def findings(self, apps, sources):
        result = []
        for name, title in (("redis", "Redis"), ("rabbitmq", "RabbitMQ")):
            if not sources[name]["ok"]:
                result.append({"subject": title, "state": "fail", "text": sources[name]["error"],
                               "fix": f"Look at {title}; what it knows is missing here until it answers."})
        for app in apps:
            if "paused" in app and app["paused"]["cause"] != "hand":
                result.append({"subject": app["app"], "state": "fail", "view": "apps", "app": app["app"],
                               "text": f"is paused: {app['paused']['reason']}",
                               "fix": "Check key id, team id and key file of credential main."})
        if len(self.dead) > 20:
            result.append({"subject": "dead letters", "state": "warn", "view": "dead",
                           "text": f"{len(self.dead):,} messages wait for a decision",
                           "fix": "Look at the reasons, correct the cause, then replay or purge."})
        result.append({"subject": "certificate-1", "state": "warn", "view": "credentials",
                       "text": "the certificate ends in 9 days", "fix": "Renew it and replace the file; no restart is needed."})
        return result[:20]

    # MARK: Lists

    def level(self, delay):
        return int(4000 / (1 + delay / 20_000) * (1 + 0.3 * math.sin(time.time() / 20 + delay)))

    def ladder(self):
        levels = []
        for delay in self.levels:
            row = {"name": f"{delay // 1000}s" if delay % 1000 == 0 else f"{delay}ms", "delay_ms": delay,
                   "messages": self.level(delay)}
            if row["messages"]:
                row["oldest_ms"] = int(delay * 0.8)
            levels.append(row)
        waiting = sum(item["waiting"] for item in self.apps.values())
        queues = [
            {"name": "pushfleet.work.*.now", "kind": "work", "lane": "now", "messages": waiting // 3,
             "consumers": len(self.workers), "oldest_ms": 640},
            {"name": "pushfleet.work.*.bulk", "kind": "work", "lane": "bulk", "messages": waiting - waiting // 3,
             "consumers": len(self.workers), "oldest_ms": 840_000},
            {"name": "pushfleet.dead", "kind": "dead", "messages": len(self.dead), "consumers": 0},
            {"name": "pushfleet.feedback", "kind": "feedback", "messages": 1204, "consumers": 1, "oldest_ms": 92_000},
            {"name": "pushfleet.suspect", "kind": "suspect", "messages": 311, "consumers": 0, "oldest_ms": 5 * HOUR},
            {"name": "pushfleet.receipts", "kind": "receipts", "messages": 0, "consumers": 2},
            {"name": "pushfleet.unrouted", "kind": "unrouted"},
        ]
        return {"time_ms": now_ms(), "levels": levels, "queues": queues}

    def worker(self, item):
        result = dict(item)
        result |= {"last_beat_ms": now_ms() - 700 - item["pid"] % 1900, "in_flight": item["pid"] % 700,
                   "draining": item["id"] in self.draining}
        return result

    def budgets(self):
        result = []
        for place, pool in enumerate(self.pools):
            held = sum(worker["connections_held"].get(pool, 0) for worker in self.workers.values())
            short = place == 0
            row = {
                "pool": pool, "credential": "main" if place == 0 else "development" if place == 1 else f"certificate-{place - 1}",
                "configured": held if short else held + 4, "in_force": held if short else held + 4, "held": held,
                "wanted": held + 9 if short else held, "granted": held * 31, "waited": 14 if short else 0,
                "wait_time_ms": 61_400 if short else 0, "reclaimed": 3 if short else 0, "overage": 0,
                "quarantine_ms": 8000 if place == 2 else 0,
                "leases": sum(pool in worker["connections_held"] for worker in self.workers.values()),
            }
            if place > 1:
                row["certificate_expires_at_ms"] = self.began + (9 + 40 * (place - 2)) * 24 * HOUR
            result.append(row)
        return result

    def leases(self, pool, worker):
        result = []
        for item in self.workers.values():
            for name, held in item["connections_held"].items():
                if (pool is None or pool == name) and (worker is None or worker == item["id"]):
                    result.append({"pool": name, "worker": item["id"], "grant": held, "open": held,
                                   "want": held + item["pid"] % 2, "expires_at_ms": now_ms() + 16_000 + item["pid"] % 4000})
        return result

    def reasons(self):
        counts = {row["reason"]: row for row in self.reason_counts(90_000)}
        result = []
        for place, row in enumerate(ANSWERS + LETTERS):
            count = counts.get(row["reason"], {"hour": 0, "total": place % 3 * 7})
            item = row | {"hour": count["hour"], "total": count["total"]}
            if item["hour"]:
                item["apps"] = list(self.apps)[:2] + list(self.apps)[-1:]
            result.append(item)
        return sorted(result, key=lambda row: (-row["hour"], -row["total"]))

    def credentials(self):
        result = []
        for row in self.budgets():
            key = "UID" not in row["pool"]
            apps = [item for item in self.apps.values() if item["pool"] == row["pool"]]
            item = {"name": row["credential"], "kind": "key" if key else "certificate", "pool": row["pool"],
                    "environment": "sandbox" if "sandbox" in row["pool"] else "production", "apps": len(apps),
                    "max_connections": row["configured"], "state": "ok",
                    "paused_apps": sum(app.get("paused", {}).get("cause") == "credential" for app in apps)}
            if key:
                item |= {"team_id": "ABCDE12345", "key_id": row["pool"].rsplit(".", 1)[1].strip("}")}
            else:
                item |= {"subject": row["pool"].split("=", 1)[1].strip("}"), "expires_at_ms": row["certificate_expires_at_ms"]}
                days = (item["expires_at_ms"] - now_ms()) // (24 * HOUR)
                if days < 30:
                    item |= {"state": "warn", "text": f"ends in {days} days",
                             "fix": "Renew it and replace the file; no restart is needed."}
            if item["paused_apps"]:
                item |= {"state": "fail", "text": "Apple refuses it for an app: 403 InvalidProviderToken",
                         "fix": "Check key id, team id and key file; run pushfleet doctor."}
            result.append(item)
        return sorted(result, key=lambda row: ["fail", "warn", "ok"].index(row["state"]))

    def matching(self, query):
        def fits(letter):
            age = now_ms() - letter["died_at_ms"]
            words = [letter.get(name, "") for name in ("message_id", "field", "detail")]
            return (all(name not in query or letter.get(name) == query[name] for name in ("app", "lane"))
                    and age >= int(query.get("min_age_ms", 0)) and age <= int(query.get("max_age_ms", 1 << 60))
                    and ("q" not in query or any(query["q"].lower() in word.lower() for word in words)))

        base = [letter for letter in self.dead.values() if fits(letter)]
        chosen = [letter for letter in base if all(
            name not in query or letter.get(name) == query[name] for name in ("reason", "apns_reason"))]
        return base, chosen

    def dead_page(self, query):
        base, chosen = self.matching(query)
        limit = int(query.get("limit", 100))
        first = 0
        if "after" in query:
            first = next((place + 1 for place, letter in enumerate(chosen) if letter["id"] == query["after"]), len(chosen))
        groups = {}
        for letter in base:
            name = (letter["reason"], letter.get("apns_reason"))
            groups[name] = groups.get(name, 0) + 1
        page = chosen[first:first + limit]
        result = {"time_ms": now_ms(), "messages": len(self.dead), "indexed": len(self.dead), "matched": len(chosen),
                  "items": page, "groups": []}
        for (reason, apns), count in sorted(groups.items(), key=lambda row: -row[1])[:50]:
            result["groups"].append({"reason": reason, "count": count} | ({"apns_reason": apns} if apns else {}))
        if first + limit < len(chosen):
            result["next"] = page[-1]["id"]
        return result

    def dead_detail(self, name):
        letter = self.dead[name]
        explained = next((row for row in LETTERS if row["reason"] == letter["reason"]), None)
        body = json.dumps({"app": letter.get("app", "com.example.shop"), "tokens": ["9f86d081884c7d65" * 4], "push_type": "alert",
                           "payload": {"aps": {"alert": {"title": "Order 17", "body": HOSTILE[int(name[1:]) % len(HOSTILE)]}}}},
                          ensure_ascii=False, indent=2)
        if letter["reason"] == "invalid_json":
            body = body[:212] + "\u0007"
        headers = {f"x-pushfleet-{name.replace('_', '-')}": str(letter[name])
                   for name in ("reason", "apns_reason", "field", "detail", "attempt") if name in letter}
        headers |= {"message_id": letter["message_id"], "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
        result = letter | {"time_ms": now_ms(), "headers": headers, "body": body, "body_encoding": "utf8",
                           "body_bytes": len(body.encode()), "can_replay": letter["reason"] not in ("invalid_json", "invalid_field")}
        if not result["can_replay"]:
            result["problem"] = letter["detail"]
        if explained:
            result |= {"meaning": explained["meaning"], "next_step": explained["next_step"]}
        return result

    def find(self, order):
        what, time_ms = order["what"], now_ms()
        token = all(digit in "0123456789abcdefABCDEF" for digit in what) and len(what) % 2 == 0
        result = {"searched": f"{what[:8]}…" if token else what, "found_by": "token" if token else "message_id", "messages": [],
                  "has_more": token, "unreadable": 0, "advice": [], "dead_letters": [],
                  "trail": {"since_ms": time_ms - 26 * HOUR, "delivered_since_ms": time_ms - 25 * HOUR,
                            "others_since_ms": time_ms - 26 * HOUR, "keep_ms": 48 * HOUR, "bytes": 21_000_000,
                            "max_bytes": 268_435_456, "lost": 0}}
        if "nothing" in what:
            result["text"] = ("nothing is known of this message; the trail begins 26 hours ago; "
                              "what is still in RabbitMQ was not received yet")
            return result
        letters = [letter for letter in self.dead.values() if letter.get("message_id") == what]
        for place in range(3 if token else 1):
            began = time_ms - 700_000 - place * 5 * HOUR
            message = {"message_id": f"order-{17 + place}" if token else what, "is_cut": False, "app": list(self.apps)[place],
                       "lane": "now", "published_ms": began, "broadcast": False, "token_count": 1 if token else 40,
                       "states": {"delivered": 1} if token else {"delivered": 38, "dead_letter": 1, "gone": 1},
                       "deliveries": [
                           {"worker": "push-1.example.net/4013/0", "received_ms": began + 31, "ended_ms": began + 96,
                            "end": "acknowledged", "redelivered": False, "attempts_before": 0, "copies": 0},
                           {"worker": HOSTILE[0], "received_ms": began + 10_140, "ended_ms": began + 10_212,
                            "end": "acknowledged", "redelivered": True, "attempts_before": 1, "copies": 1}],
                       "tokens": []}
            states = ["delivered"] if token else ["dead_letter", "gone"] + ["delivered"] * 38
            for number, state in enumerate(states):
                steps = [{"delivery": 0, "state": "retry", "time_ms": began + 95, "due_ms": began + 10_100, "returned": False,
                          "answers": [{"time_ms": began + 92, "latency_ms": 58, "attempt": 1, "connection": 3, "status": 429,
                                       "apns_reason": "TooManyRequests"}]},
                         {"delivery": 1, "state": state, "time_ms": began + 10_211, "returned": False,
                          "answers": [{"time_ms": began + 10_209, "latency_ms": 66, "attempt": 2, "connection": 5,
                                       "status": {"delivered": 200, "gone": 410}.get(state, 400)}]}]
                if state == "dead_letter":
                    steps[1]["reason"] = "suspect_token"
                    steps[1]["answers"][0]["apns_reason"] = "BadDeviceToken"
                if state == "gone":
                    steps[1]["invalid_since_ms"] = began - 30 * HOUR
                    steps[1]["answers"][0]["apns_reason"] = "Unregistered"
                row = {"token": f"{number * 977 % 65536:04x}…{number * 31 % 256:02x}", "state": state, "steps": steps}
                if token:
                    row["apns_id"] = "3f0c9d0e-6a7b-5c1d-9e2f-0123456789ab"
                message["tokens"].append(row)
            result["messages"].append(message)
        if not token:
            result["advice"] = [{name: row[name] for name in ("reason", "meaning", "next_step")}
                                for row in ANSWERS + LETTERS if row["reason"] in ("BadDeviceToken", "suspect_token", "Unregistered")]
        result["dead_letters"] = [letter["id"] for letter in letters][:20]
        return result
