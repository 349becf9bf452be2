"""A headless Chromium by its DevTools protocol over a pipe: no port, no WebSocket, nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36}


class Chromium:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="pushfleet-chromium.")
        to_browser, from_browser = os.pipe(), os.pipe()

        def fds():
            # It reads at 3 and writes at 4. Copies first: 3 and 4 may be among the pipes' own.
            first, second = os.dup(to_browser[0]), os.dup(from_browser[1])
            os.dup2(first, 50)
            os.dup2(second, 51)
            os.dup2(50, 3)
            os.dup2(51, 4)

        command = [shutil.which("chromium") or "chromium", "--headless=new", "--remote-debugging-pipe", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--no-default-browser-check", "--hide-scrollbars",
                   "--force-color-profile=srgb", f"--user-data-dir={self.folder}", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(command, preexec_fn=fds, close_fds=False, stdout=self.log, stderr=self.log,
                                        env=os.environ | {"TZ": "UTC", "LANG": "C.UTF-8"})
        os.close(to_browser[0])
        os.close(from_browser[1])
        self.writer, self.reader = to_browser[1], from_browser[0]
        self.buffer, self.number, self.session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", patience=5)
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        finally:
            os.close(self.writer)
            os.close(self.reader)
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    # MARK: The protocol

    def call(self, method, patience=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        end = time.monotonic() + patience
        while True:
            answer = self.read(end - time.monotonic())
            if answer is None:
                raise TimeoutError(f"{method}: no answer in {patience} s")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def read(self, patience):
        """The next message, or None. Events are kept, and dialogs closed at once."""
        end = time.monotonic() + patience
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                return None
            data = os.read(self.reader, 1 << 20)
            if not data:
                raise OSError("chromium has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
            if message["method"] == "Page.javascriptDialogOpening":
                self.number += 1
                order = {"id": self.number, "method": "Page.handleJavaScriptDialog", "params": {"accept": False},
                         "sessionId": message["sessionId"]}
                os.write(self.writer, json.dumps(order).encode() + b"\0")
        return message

    def settle(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def happened(self, method):
        return [event["params"] for event in self.events if event["method"] == method]

    # MARK: The page

    def run(self, script):
        """The value of an expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return answer["result"].get("value")

    def until(self, script, patience=30):
        """Waits until an expression is true."""
        end = time.monotonic() + patience
        while True:
            try:
                if self.run(f"Boolean({script})"):
                    return
            except RuntimeError as error:
                if time.monotonic() > end:
                    raise error
            if time.monotonic() > end:
                raise TimeoutError(f"never true in {patience} s: {script}")
            time.sleep(0.02)

    def goto(self, url):
        self.call("Page.navigate", url=url)

    def size(self, width, height, is_phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if is_phone else 1,
                  mobile=is_phone)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def key(self, name, shift=False):
        text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
        common = {"key": name, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": KEYS.get(name, ord(name[0].upper()))}
        if len(name) > 1:
            common["code"] = name
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path, full=True):
        options = {}
        if full:
            box = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options = {"captureBeyondViewport": True,
                       "clip": {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 6000), "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
