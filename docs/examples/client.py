"""A client of lastword's HTTP API in one file, for Python 3.9 or newer: start, follow, answer, cancel and say.

    client = Client("http://127.0.0.1:7878")
    run = client.start("prompt", {"prompt": "Why is the sky blue?"})
    for event in client.follow(run):
        print(event["seq"], event["type"])

follow comes back with its cursor when the connection is cut: nothing is lost, and nothing comes twice. The other calls
are repeated when nobody answers; a repeated call is still one start, one answer, one message. From a shell:

    python3 client.py start JOB [INPUT]    python3 client.py answer RUN REQUEST VALUE    python3 client.py cancel RUN
    python3 client.py follow RUN [AFTER]   python3 client.py say RUN TEXT

LASTWORD_SERVER and LASTWORD_TOKEN name the server and its token.
"""

import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

ENDS = ("run.completed", "run.failed", "run.canceled")
CUT = (OSError, http.client.HTTPException, json.JSONDecodeError)  # what a broken connection raises


class Refused(Exception):
    """The server has refused a request. docs/errors.md lists the codes."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        self.status, self.code, self.retryable = status, problem.get("code", ""), problem.get("retryable", False)


class Client:
    def __init__(self, server="http://127.0.0.1:7878", token=None, patience=60.0):
        """patience is for how many seconds a call is repeated while nobody answers."""
        self.server, self.token, self.patience = server.rstrip("/"), token, patience

    def start(self, job, input=None, key=None, **more):
        """Start a run and return its id. more may have labels, limits and busy. The same key is the same run."""
        body = {"job": job, "input": {} if input is None else input, **more}
        return self._call("POST", "/v1/runs", body, {"Idempotency-Key": key or uuid.uuid4().hex})["run_id"]

    def state(self, run):
        """Return what the run's events add up to."""
        return self._call("GET", _path(run))

    def answer(self, run, request, value):
        """Answer a question of the run: the payload of input.required has its name, request."""
        self._call("POST", _path(run, "input", request), {"value": value}, once=True)

    def cancel(self, run, reason=""):
        self._call("POST", _path(run, "cancel"), {"reason": reason})

    def say(self, run, text, mode="steer", id=None):
        """Say something to a run that works, and return the id of the message."""
        body = {"id": id or uuid.uuid4().hex, "content": text, "mode": mode}
        return self._call("POST", _path(run, "messages"), body)["message"]

    def follow(self, run, after=0):
        """Yield the run's events after the cursor until its end. The cursor of an event is event["cursor"]."""
        silent = time.monotonic()
        while True:
            query = urllib.parse.urlencode({"after": after})
            try:
                with self._open("GET", _path(run, "events") + "?" + query, None, {"Accept": "application/x-ndjson"}) as lines:
                    for event in _events(lines):
                        after = event.setdefault("cursor", event["seq"])
                        yield event
                        if event["type"] in ENDS:
                            return
                        silent = time.monotonic()
            except Refused as refused:
                if not refused.retryable:
                    raise
            except CUT:
                if time.monotonic() - silent > self.patience:
                    raise
            time.sleep(random.uniform(0.05, 0.5))

    def wait(self, run):
        """Return the run's last event."""
        for event in self.follow(run):
            pass
        return event

    def _call(self, method, path, body=None, headers=None, once=False):
        begun, repeated = time.monotonic(), False
        while True:
            try:
                with self._open(method, path, body, headers or {}) as response:
                    return json.loads(response.read() or b"null")
            except Refused as refused:
                if once and repeated and refused.status == 409:
                    return None  # the first try has arrived
                if not refused.retryable or time.monotonic() - begun > self.patience:
                    raise
            except CUT:
                if time.monotonic() - begun > self.patience:
                    raise
            repeated = True
            time.sleep(random.uniform(0.05, 0.5))

    def _open(self, method, path, body, headers):
        request = urllib.request.Request(self.server + path, method=method, headers=headers)
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            return urllib.request.urlopen(request, timeout=60)  # the server sends a line every 15 s
        except urllib.error.HTTPError as error:
            with error:
                try:
                    problem = json.loads(error.read())
                except ValueError:
                    problem = {"retryable": error.code >= 500}
            raise Refused(error.code, problem) from None


def _path(run, *parts):
    return "/v1/runs/" + "/".join(urllib.parse.quote(part, safe="") for part in (run, *parts))


def _events(lines):
    """Yield the events of one connection. A line without its end is the rest of a cut connection."""
    for line in lines:
        if not line.endswith(b"\n"):
            return
        if line.strip():
            event = json.loads(line)
            if "problem" in event:
                raise Refused(0, event["problem"])
            if "type" in event:
                yield event


def main(command, *args):
    client = Client(os.environ.get("LASTWORD_SERVER", "http://127.0.0.1:7878"), os.environ.get("LASTWORD_TOKEN"))
    if command == "start":
        print(client.start(args[0], json.loads(args[1]) if len(args) > 1 else None))
    elif command == "follow":
        for event in client.follow(*args):
            print(json.dumps(event), flush=True)
    elif command == "answer":
        client.answer(args[0], args[1], json.loads(args[2]))
    elif command == "cancel":
        client.cancel(*args)
    elif command == "say":
        print(client.say(*args))
    else:
        sys.exit(f"there is no command {command}: use start, follow, answer, cancel or say")


if __name__ == "__main__":
    main(*sys.argv[1:])
