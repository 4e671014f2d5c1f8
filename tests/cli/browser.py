"""A page as a headless Chromium shows it, without a network: what it asks for, says, holds and draws."""
import base64
import json
import os
import pathlib
import select
import shutil
import struct
import subprocess
import time
import unittest
import zlib

NEVER = 240  # seconds, for slow machines
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def program():
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None and "ID=ubuntu\n" in pathlib.Path("/etc/os-release").read_text():
        raise unittest.SkipTest("Ubuntu has Chromium only as a snap")
    if found is None:
        raise AssertionError(f"none of {', '.join(NAMES)} is installed: ./dev setup installs it")
    return found


def without_network():
    """What goes before a command so that it has no network; empty where the system refuses."""
    for words in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        if shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            return words
    return []


class Browser:
    """Speaks Chromium's DevTools protocol over two pipes, messages ended by a zero byte."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        to_child, self.write = os.pipe()
        self.read, from_child = os.pipe()
        self.folder, self.buffer, self.number, self.events = folder, b"", 0, []
        self.log = open(folder / "browser.log", "wb")
        words = [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--window-size=1280,900",
                 "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",  # nothing listens there
                 "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}", "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        started = ["sh", "-c", f'exec "$@" 3<&{to_child} 4>&{from_child}', "sh", *without_network(), *words]
        self.child = subprocess.Popen(started, pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                      env=dict(os.environ, HOME=str(folder)), start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.session = None
        try:
            self.attach()
        except BaseException:
            self.close()
            raise

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable")

    def message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, deadline - time.monotonic()))
            more = os.read(self.read, 1 << 20) if ready else b""
            if not more:
                self.log.flush()
                raise AssertionError("the browser does not answer:\n" + (self.folder / "browser.log").read_text(errors="replace")[-4000:])
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        text = {"id": self.number, "method": method, "params": params}
        if self.session:
            text["sessionId"] = self.session
        os.write(self.write, json.dumps(text).encode() + b"\0")
        deadline = time.monotonic() + NEVER
        while True:
            answer = self.message(deadline)
            if "method" in answer:
                self.events.append(answer)
            elif answer["id"] == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, path):
        """The page's requests, and what the browser complains of."""
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        deadline = time.monotonic() + NEVER
        while not any(one["method"] == "Page.loadEventFired" for one in self.events):
            answer = self.message(deadline)
            if "method" in answer:
                self.events.append(answer)
        time.sleep(0.5)  # for requests that a script makes later
        self.evaluate("1")
        asked = [one["params"]["request"]["url"] for one in self.events if one["method"] == "Network.requestWillBeSent"]
        complaints = [one["params"]["entry"]["text"] for one in self.events if one["method"] == "Log.entryAdded"]
        complaints += [str(one["params"]) for one in self.events
                       if one["method"] == "Runtime.exceptionThrown"
                       or one["method"] == "Runtime.consoleAPICalled" and one["params"]["type"] in ("error", "warning", "assert")]
        return asked, complaints

    def picture(self):
        """The whole page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"])

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (AssertionError, OSError):
            self.child.kill()
        try:
            self.child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        for end in (self.read, self.write):
            os.close(end)
        self.log.close()


def pixels(png):
    """Width, height and rows of (r, g, b) of a PNG with 8 bits a channel."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", png[at + 8:at + 18])
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    channels = {2: 3, 6: 4}[colour]
    assert bits == 8
    raw, stride, rows, above = zlib.decompress(data), width * channels, [], bytes(width * channels)
    for row in range(height):
        kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        for at in range(stride if kind else 0):
            left, up = line[at - channels] if at >= channels else 0, above[at]
            corner = above[at - channels] if at >= channels else 0
            if kind == 4:  # Paeth: the nearest of the three to left + up - corner
                guess = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
            else:
                guess = {1: left, 2: up, 3: (left + up) // 2}[kind]
            line[at] = (line[at] + guess) & 255
        rows.append([tuple(line[at:at + 3]) for at in range(0, stride, channels)])
        above = bytes(line)
    return width, height, rows
