"""A fleet on this machine for scripts: private RabbitMQ and Redis, an APNs simulator, workers, all in one directory.

Whatever is started here is stopped by `close`, in reverse order, and dies with the script that started it.
"""

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import pika

ROOT = pathlib.Path(__file__).resolve().parents[2]


def say(text):
    print(text, file=sys.stderr, flush=True)


class Failed(Exception):
    """Something could not be started, or did not do what it had to."""


def run_script(name, body):
    """Runs a script's body, which is given what takes a fleet to close at the end; returns the exit code.

    What could not be done is one line and 2, with the servers' logs; an interruption is 130."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    fleets = []
    try:
        return body(fleets.append)
    except Failed as failure:
        say(f"{name}: {failure}")
        for fleet in fleets:
            fleet.show_logs()
        return 2
    except OSError as error:
        say(f"{name}: {error}")
        return 2
    except KeyboardInterrupt:
        say(f"{name}: interrupted")
        return 130
    finally:
        for fleet in fleets:
            with contextlib.suppress(KeyboardInterrupt):
                fleet.close()


class Fleet:
    """Servers and workers, started in order."""

    key_id, team_id = "FLEETKEY01", "FLEETTEAM1"

    def __init__(self, name, binary, keep=False):
        self.binary = binary
        self.keep = keep
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"pushfleet-{name}-"))
        self.certs = self.directory / "certs"
        self.configuration = self.directory / "pushfleet.yaml"
        self.stack = contextlib.ExitStack()

    # Starting and stopping

    def script(self, name, *arguments):
        """Runs one of our scripts and returns what it printed as name=value."""
        done = subprocess.run(
            [ROOT / "scripts" / name, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"scripts/{name} failed")
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    def start_servers(self):
        watched = [] if self.keep else ["--die-with", os.getpid()]
        say(f"Starting RabbitMQ, Redis and the simulator in {self.directory} …")
        self.script("make-certs", self.certs)
        self.stack.callback(self.script, "private-rabbitmq", "stop", self.directory / "rabbitmq")
        self.rabbitmq = self.script("private-rabbitmq", "start", self.directory / "rabbitmq", *watched)
        self.stack.callback(self.script, "private-redis", "stop", self.directory / "redis")
        self.redis = self.script("private-redis", "start", self.directory / "redis", *watched)
        self.amqp_url = f"amqp://guest:guest@localhost:{self.rabbitmq['port']}/"
        self.redis_url = f"redis://localhost:{self.redis['port']}/0"

    def start_simulator(self, *options):
        self.simulator = self.spawn(
            "simulator", "simulator", "--port", 0, "--control-port", 0, "--cert", self.certs / "server.pem", "--key",
            self.certs / "server.key", "--signing-key",
            f"{self.key_id}:{self.team_id}:{self.certs / 'auth.pub.pem'}", *options, stdout=subprocess.PIPE)
        ports = {}
        while len(ports) < 2:
            line = self.simulator.stdout.readline().decode()
            if not line:
                raise Failed(f"the simulator did not start, see {self.directory}/simulator.log")
            if "=" in line:
                name, value = line.strip().split("=", 1)
                ports[name] = int(value)
        self.apns_port, self.control_port = ports["port"], ports["control_port"]

    def write_configuration(self, apps, max_connections, **sections):
        """Apps are names with their settings; other sections are maps of settings. All as JSON, which is YAML too."""
        credential = {
            "environment": "sandbox", "team_id": self.team_id, "key_id": self.key_id,
            "key_file": str(self.certs / "auth.p8"), "max_connections": max_connections, "host": "localhost",
            "port": self.apns_port, "ca_file": str(self.certs / "ca.pem"),
        }
        whole = {
            "amqp": {"url": self.amqp_url}, "redis": {"url": self.redis_url}, "credentials": {"main": credential},
            "apps": {name: {"credential": "main", **settings} for name, settings in apps.items()}, **sections,
        }
        self.configuration.write_text(json.dumps(whole, indent=1))

    def spawn(self, name, *arguments, program=None, **more):
        """Starts a verb of pushfleet, or another program; its log has its name."""
        with open(self.directory / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [program or self.binary, *map(str, arguments)], stderr=log, start_new_session=True,
                **{"stdout": log, **more})
        self.stack.callback(self.stop, process, name)
        return process

    def start_dashboard(self):
        """Returns its address, and the token of somebody who may act; asked for after the configuration is written."""
        token = secrets.token_hex(16)
        tokens = self.directory / "dashboard-tokens"
        tokens.touch(mode=0o600)
        tokens.write_text(f"operator actor {token}\n")
        dashboard = self.spawn(
            "dashboard", "dashboard", "--config", self.configuration, "--port", 0, stdout=subprocess.PIPE,
            env={**os.environ, "PUSHFLEET_DASHBOARD_TOKENS_FILE": str(tokens)})
        line = dashboard.stdout.readline().decode().strip()
        if not line.startswith("port="):
            raise Failed(f"the dashboard did not start, see {self.directory}/dashboard.log")
        return dashboard, f"http://127.0.0.1:{line.removeprefix('port=')}/", token

    def start_worker(self, number):
        name = f"worker-{number}"
        return self.spawn(name, "worker", "--config", self.configuration)

    def stop(self, process, name):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                say(f"{name} did not stop and is killed")
                process.kill()
                process.wait()

    def close(self):
        self.stack.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def show_logs(self):
        for log in sorted(self.directory.glob("*.log")):
            tail = log.read_text(errors="replace").splitlines()[-5:]
            if tail:
                say("\n".join([f"-- {log.name}", *tail]))

    # Asking

    def run(self, *arguments, **more):
        """Runs a verb of pushfleet and returns what it printed."""
        done = subprocess.run(
            [self.binary, *map(str, arguments), "--config", str(self.configuration)],
            stdout=subprocess.PIPE, check=False, **more)
        if done.returncode != 0:
            raise Failed(f"pushfleet {arguments[0]} failed")
        return done.stdout.decode()

    def control(self, method, path, body=None):
        """The simulator's control API."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.control_port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(), headers={"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise Failed(f"{method} {path}: {error.read().decode()}") from error

    def ledger(self):
        """Every request that the simulator remembers, the newest first."""
        before = ""
        while True:
            entries = self.control("GET", f"/ledger?limit=10000{before}")["entries"]
            yield from entries
            if not entries or entries[-1]["sequence"] < 1:
                return
            before = f"&before={entries[-1]['sequence']}"

    def channel(self):
        return pika.BlockingConnection(pika.URLParameters(self.amqp_url)).channel()

    def depth(self, channel, queue):
        return channel.queue_declare(queue, passive=True).method.message_count


def cpu_microseconds(*pids):
    """User and system time of these processes so far, all threads that live."""
    nanoseconds = 0
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1000
