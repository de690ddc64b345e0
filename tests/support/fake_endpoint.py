"""An OpenAI-compatible endpoint that answers, and misbehaves on request."""

import json
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeEndpoint:
    """Answers with what the last user message says after ``say:``, unless a script says otherwise for that message.

    ``script`` maps a word in the message to what happens, one entry per request about it: a status, ``drop`` (the
    connection is closed), ``garbage`` (no JSON), ``odd`` (JSON of another kind), ``slow``, ``empty``, ``cut``, or
    ``ok``. The last entry stays.
    """

    def __init__(self, script=None, *, key=None):
        self.script = {word: list(entries) for word, entries in (script or {}).items()}
        self.key = key
        self.requests = []
        self.times = []
        self.seen = Counter()
        self.connections = set()
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint._enter(self, body)
                try:
                    endpoint._answer(self, body)
                finally:
                    endpoint._leave()

            def log_message(self, *arguments): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._is_over = threading.Event()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @contextmanager
    def running(self):
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._is_over.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def _enter(self, handler, body):
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self.connections.add(handler.client_address)
            self.requests.append((handler.path, dict(handler.headers), body))
            self.times.append(time.monotonic())

    def _leave(self):
        with self._lock:
            self._now -= 1

    def _next_for(self, message):
        with self._lock:
            for word, entries in self.script.items():
                if word in message:
                    self.seen[word] += 1
                    return entries.pop(0) if len(entries) > 1 else entries[0]
        return "ok"

    def _answer(self, handler, body):
        message = body["messages"][-1]["content"]
        action = self._next_for(message)
        if self.key is not None and handler.headers.get("Authorization") != f"Bearer {self.key}":
            action = 401
        if action == "drop":
            handler.close_connection = True
            handler.connection.shutdown(2)
            return
        if action == "slow":
            self._is_over.wait(60)  # longer than any client does
        elif action == "wait":
            time.sleep(0.05)
        status, headers = action if isinstance(action, tuple) else (action if isinstance(action, int) else 200, {})
        content = _content(action, message)
        if status != 200:
            content = json.dumps({"error": {"message": f"trouble {status} for {handler.headers.get('Authorization')}"}})
        payload = content.encode()
        try:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(payload)))
            handler.end_headers()
            handler.wfile.write(payload)
        except OSError:  # the client has given up on a slow answer
            handler.close_connection = True


def _content(action, message):
    if action == "garbage":
        return "<html>busy"
    if action == "odd":
        return '{"choices": []}'
    answer = message.rpartition("say:")[2].strip()
    choice = {
        "message": {"role": "assistant", "content": None if action == "empty" else answer},
        "finish_reason": "length" if action == "cut" else "stop",
    }
    usage = {"prompt_tokens": len(message), "completion_tokens": len(answer)}
    return json.dumps({"choices": [choice], "usage": usage})
