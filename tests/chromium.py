"""A headless Chromium driven through its pipe (DevTools protocol), with real keys, wheel and touches."""

import base64
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
FLAGS += ("--disable-background-networking", "--disable-component-update")
_KEYS = {"Enter": "\r", "Tab": "\t", " ": " "}
_CODES = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36}
_CODES |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Tab:
    """A page in the browser."""

    def __init__(self, out, into):
        self._out, self._into, self._rest, self._last, self._session = out, into, b"", 0, None
        self.said, self.requested = [], []

    def call(self, method, **settings):
        """Call a method of the protocol and return its result."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": settings}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(found["params"])
            if found.get("method") == "Network.requestWillBeSent":
                self.requested.append(found["params"]["request"]["url"])
            if found.get("id") == self._last:
                assert "error" not in found, found
                return found["result"]

    def _read(self):
        while b"\0" not in self._rest:
            part = os.read(self._into, 1 << 16)
            assert part, "the browser has ended"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def open(self, address):
        """Attach to a new page at the address and wait until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{part}.enable")
        self.go(address)

    def go(self, address):
        """Load an address, afresh even if only its fragment differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def value(self, script):
        """Return the value of an expression on the page."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script):
        """Wait until an expression is true."""
        until = time.monotonic() + 30
        while not self.value(script):
            assert time.monotonic() < until, f"never true: {script}"
            time.sleep(0.02)

    def nodes(self, role):
        """Return what a screen reader meets with a role: the name of each, and its node."""
        found = self.call("Accessibility.getFullAXTree")["nodes"]
        kept = [node for node in found if not node["ignored"] and node["role"]["value"] == role]
        return [(node.get("name", {}).get("value", ""), node["backendDOMNodeId"]) for node in kept]

    def click(self, role, name):
        """Click where a control with a role stands whose name holds a text, once it is there; the first of several."""
        until = time.monotonic() + 30
        while not (found := [node for label, node in self.nodes(role) if name in label]):
            assert time.monotonic() < until, f"no {role} {name!r} among {self.nodes(role)}"
            time.sleep(0.05)
        self.call("DOM.scrollIntoViewIfNeeded", backendNodeId=found[0])
        quad = self.call("DOM.getContentQuads", backendNodeId=found[0])["quads"][0]
        x, y = sum(quad[::2]) / 4, sum(quad[1::2]) / 4
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def type(self, text):
        """Write into the field that has the focus, in place of its text."""
        self.value("document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def press(self, *keys):
        """Press keys one after another."""
        for key in keys:
            text = _KEYS.get(key, key if len(key) == 1 else "")
            code = _CODES.get(key, 0)
            down = {"type": "keyDown" if text else "rawKeyDown", "text": text} if text else {"type": "rawKeyDown"}
            self.call("Input.dispatchKeyEvent", key=key, windowsVirtualKeyCode=code, **down)
            self.call("Input.dispatchKeyEvent", key=key, windowsVirtualKeyCode=code, type="keyUp")

    def mouse(self, kind, x, y, **settings):
        """Send an event of the mouse."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **settings)

    def touch(self, kind, *points):
        """Send an event of the fingers at these points."""
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def look(self, width, height, dark=False, phone=False):
        """Set the size of the window, the colours, and whether it is a phone."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        wanted = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=wanted)

    def picture(self):
        """Return the window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def browse(address: str, profile: Path):
    """Open an address in a browser of its own."""
    to_browser, out = os.pipe()
    into, from_browser = os.pipe()

    def wire():  # the browser reads from descriptor 3 and writes to 4
        kept = os.dup(to_browser), os.dup(from_browser)
        os.dup2(kept[0], 3)
        os.dup2(kept[1], 4)

    command = [str(BROWSER), *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "--window-size=1280,900"]
    process = subprocess.Popen(
        command, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        tab = Tab(out, into)
        tab.open(address)
        yield tab
        tab.call("Page.close")
    finally:
        process.terminate()
        process.wait(30)
        os.close(out)
        os.close(into)
