"""The two peers of a worker that is to cost the same on every run: as much of RabbitMQ as one worker talks to, and as
much of Apple. They go in step: a batch of messages leaves in one write when the one before is settled, and its answers
leave in one write when all of its requests are there.
"""

import asyncio
import collections
import json
import ssl
import struct
import time

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8


class PeerFailure(Exception):
    """The worker said something that it must not, or died."""


# AMQP 0-9-1

def short_string(text):
    return bytes([len(text)]) + text.encode()


def table(values):
    """A field table of strings, flags and tables."""
    fields = b""
    for name, value in values.items():
        if isinstance(value, bool):
            encoded = b"t" + bytes([value])
        elif isinstance(value, dict):
            encoded = b"F" + table(value)
        else:
            encoded = b"S" + struct.pack(">I", len(value)) + value.encode()
        fields += short_string(name) + encoded
    return struct.pack(">I", len(fields)) + fields


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel, number, arguments=b""):
    return frame(METHOD, channel, struct.pack(">HH", *number) + arguments)


START, TUNE, OPEN_OK, CLOSE_OK = (10, 10), (10, 30), (10, 41), (10, 51)
CHANNEL_OPEN_OK, CHANNEL_CLOSE_OK = (20, 11), (20, 41)
DELIVER, ACK = (60, 60), (60, 80)


class Work:
    """What is to be sent: batches of messages, one after the other, and how far it has come."""

    def __init__(self, batches):
        self.batches = batches
        self.next = 0
        self.open = 0  # messages delivered and not settled
        self.requests = 0  # notifications delivered, over all batches so far
        self.answered = 0
        self.copies = 0
        self.problem = None
        self.done = asyncio.get_running_loop().create_future()

    def fail(self, text):
        if not self.done.done():
            self.done.set_exception(PeerFailure(text))

    def finish_if_done(self):
        if self.open == 0 and self.next == len(self.batches) and not self.done.done():
            self.done.set_result(None)


class Broker(asyncio.Protocol):
    """One AMQP connection."""

    def __init__(self, work, queue):
        self.work = work
        self.queue = queue
        self.buffer = b""
        self.has_greeted = False
        self.consumers = {}  # channel -> tag, of the one queue with messages
        self.tags = {}  # channel -> deliveries so far
        self.open = collections.defaultdict(set)
        self.publishing = {}  # channel -> bytes of the body still to come
        self.published = {}
        self.unconfirmed = set()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        if not self.has_greeted:
            if len(self.buffer) < 8:
                return
            self.has_greeted, self.buffer = True, self.buffer[8:]
            capabilities = dict.fromkeys(
                ["publisher_confirms", "basic.nack", "consumer_cancel_notify", "connection.blocked",
                 "authentication_failure_close"], True)
            properties = table({"product": "RabbitMQ", "version": "3.10.8", "capabilities": capabilities})
            self.transport.write(method(
                0, START, b"\x00\x09" + properties + struct.pack(">I", 5) + b"PLAIN" + struct.pack(">I", 5) + b"en_US"))
        at = 0
        while len(self.buffer) - at >= 8:
            kind, channel, size = struct.unpack_from(">BHI", self.buffer, at)
            if len(self.buffer) - at < size + 8:
                break
            self.take(kind, channel, self.buffer[at + 7:at + 7 + size])
            at += size + 8
        self.buffer = self.buffer[at:]
        # One confirm for all copies of this turn.
        for channel in self.unconfirmed:
            self.transport.write(method(channel, ACK, struct.pack(">QB", self.published[channel], 1)))
        self.unconfirmed.clear()
        self.deliver()

    def take(self, kind, channel, payload):
        if kind == METHOD:
            number = struct.unpack_from(">HH", payload)
            handler = self.METHODS.get(number)
            if not handler:
                return self.work.fail(f"the worker sent AMQP method {number}, which is not expected here")
            handler(self, channel, payload[4:])
        elif kind == HEADER:
            self.content(channel, struct.unpack_from(">Q", payload, 4)[0])
        elif kind == BODY:
            self.content(channel, self.publishing[channel] - len(payload))

    def content(self, channel, rest):
        self.publishing[channel] = rest
        if rest == 0:
            self.published[channel] = self.published.get(channel, 0) + 1
            self.work.copies += 1
            self.unconfirmed.add(channel)

    def queue_declare(self, channel, arguments):
        name = arguments[2:3 + arguments[2]]
        self.transport.write(method(channel, (50, 11), name + struct.pack(">II", 0, 0)))

    def consume(self, channel, arguments):
        size = arguments[2]
        queue, tag = arguments[3:3 + size].decode(), arguments[3 + size:4 + size + arguments[3 + size]]
        if queue == self.queue:
            self.consumers[channel] = tag
        self.transport.write(method(channel, (60, 21), tag))

    def cancel(self, channel, arguments):
        self.consumers.pop(channel, None)
        self.transport.write(method(channel, (60, 31), arguments[:1 + arguments[0]]))

    def ack(self, channel, arguments):
        tag, multiple = struct.unpack(">QB", arguments)
        settled = {each for each in self.open[channel] if each == tag or multiple and each <= tag}
        self.open[channel] -= settled
        self.work.open -= len(settled)
        self.work.finish_if_done()

    def reject(self, *_):
        self.work.fail("the worker gave a message back")

    METHODS = {
        (10, 11): lambda self, *_: self.transport.write(method(0, TUNE, struct.pack(">HIH", 2047, 131072, 0))),
        (10, 31): lambda *_: None,
        (10, 40): lambda self, *_: self.transport.write(method(0, OPEN_OK, b"\x00")),
        (10, 50): lambda self, *_: self.transport.write(method(0, CLOSE_OK)),
        (10, 51): lambda *_: None,
        (20, 10): lambda self, channel, _: self.transport.write(method(channel, CHANNEL_OPEN_OK, b"\x00" * 4)),
        (20, 40): lambda self, channel, _: self.transport.write(method(channel, CHANNEL_CLOSE_OK)),
        (50, 10): queue_declare,
        (60, 10): lambda self, channel, _: self.transport.write(method(channel, (60, 11))),
        (60, 20): consume,
        (60, 30): cancel,
        (60, 40): lambda *_: None,
        (60, 80): ack,
        (60, 90): reject,
        (60, 120): reject,
        (85, 10): lambda self, channel, _: self.transport.write(method(channel, (85, 11))),
    }

    def deliver(self):
        """The next batch in one write, if the one before is settled."""
        work = self.work
        if work.open > 0 or not self.consumers or work.next == len(work.batches):
            return
        (channel, tag), = self.consumers.items()
        out = []
        for name, body, tokens in work.batches[work.next]:
            self.tags[channel] = self.tags.get(channel, 0) + 1
            self.open[channel].add(self.tags[channel])
            arguments = tag + struct.pack(">QB", self.tags[channel], 0)
            key = self.queue.removeprefix("pushfleet.")
            out.append(method(channel, DELIVER, arguments + short_string("pushfleet") + short_string(key)))
            # Persistent, message id, timestamp.
            properties = struct.pack(">HHQHB", 60, 0, len(body), 0x1000 | 0x80 | 0x40, 2)
            properties += short_string(name) + struct.pack(">Q", int(time.time()))
            out.append(frame(HEADER, channel, properties))
            out.append(frame(BODY, channel, body))
            work.requests += tokens
        work.open += len(work.batches[work.next])
        work.next += 1
        self.transport.write(b"".join(out))


# HTTP/2

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
END_STREAM, END_HEADERS = 1, 4
# A literal without indexing (RFC 7541 §6.2.2), as Apple answers with an apns-id.
APNS_ID = b"\x00\x07apns-id\x24EC1BF194-B3B2-424A-89A9-5A918A6E6B5E"
ACCEPTED = b"\x88" + APNS_ID
REFUSED = b"\x08\x03503" + APNS_ID
REASON = json.dumps({"reason": "ServiceUnavailable"}).encode()


def h2(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Apple(asyncio.Protocol):
    """One connection to Apple. Answers every request 200, or every so many-th 503."""

    def __init__(self, work, refused_each):
        self.work = work
        self.refused_each = refused_each
        self.buffer = b""
        self.has_greeted = False
        self.waiting = []
        self.timer = None

    def connection_made(self, transport):
        self.transport = transport
        # 1,000 streams at a time (RFC 9113 §6.5.2), and a window that never closes.
        transport.write(h2(SETTINGS, 0, 0, struct.pack(">HI", 3, 1000))
                        + h2(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7fff0000 - 65535)))

    def data_received(self, data):
        self.buffer += data
        if not self.has_greeted:
            if len(self.buffer) < len(PREFACE):
                return
            self.has_greeted, self.buffer = True, self.buffer[len(PREFACE):]
        at = 0
        while len(self.buffer) - at >= 9:
            size = int.from_bytes(self.buffer[at:at + 3], "big")
            if len(self.buffer) - at < size + 9:
                break
            kind, flags, stream = struct.unpack_from(">BBI", self.buffer, at + 3)
            self.take(kind, flags, stream, self.buffer[at + 9:at + 9 + size])
            at += size + 9
        self.buffer = self.buffer[at:]
        if self.timer:
            self.timer.cancel()
        if self.work.answered + len(self.waiting) == self.work.requests:
            self.answer()
        elif self.waiting:
            # As at the beginning, when a new connection carries one request until it has proven itself.
            self.timer = asyncio.get_running_loop().call_later(0.5, self.answer)

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & 1:
            self.transport.write(h2(SETTINGS, 1, 0, b""))
        elif kind == PING and not flags & 1:
            self.transport.write(h2(PING, 1, 0, payload))
        elif kind == RST_STREAM:
            self.work.fail("the worker reset a request")
        elif kind == GOAWAY:
            self.work.fail(f"the worker ended the connection: {payload[8:].decode(errors='replace')}")
        elif kind in (DATA, HEADERS) and flags & END_STREAM:
            self.waiting.append(stream)

    def answer(self):
        out = []
        for stream in self.waiting:
            self.work.answered += 1
            if self.refused_each and self.work.answered % self.refused_each == 0:
                out += [h2(HEADERS, END_HEADERS, stream, REFUSED), h2(DATA, END_STREAM, stream, REASON)]
            else:
                out.append(h2(HEADERS, END_HEADERS | END_STREAM, stream, ACCEPTED))
        self.waiting = []
        if out:
            self.transport.write(b"".join(out))


class Peers:
    """Both, listening on ports of their own."""

    def __init__(self, batches, queue, certificates, refused_each=0):
        self.batches, self.queue, self.certificates, self.refused_each = batches, queue, certificates, refused_each

    async def __aenter__(self):
        loop = asyncio.get_running_loop()
        self.work = Work(self.batches)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificates / "server.pem", self.certificates / "server.key")
        tls.set_alpn_protocols(["h2"])
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
        self.servers = [
            await loop.create_server(lambda: Broker(self.work, self.queue), "127.0.0.1", 0),
            await loop.create_server(lambda: Apple(self.work, self.refused_each), "127.0.0.1", 0, ssl=tls),
        ]
        self.amqp_port, self.apns_port = (server.sockets[0].getsockname()[1] for server in self.servers)
        return self

    async def __aexit__(self, *_):
        for server in self.servers:
            server.close()
