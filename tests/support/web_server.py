"""A web server on the loopback interface that notes every request, to prove that none was made."""

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebServer:
    def __init__(self, files=None, redirects=None, redirect_header="Location"):
        self.files = files or {}
        self.redirects = redirects or {}
        self.redirect_header = redirect_header
        self.requests = []
        self.url = ""


@contextmanager
def web_server(files=None, redirects=None, redirect_header="Location"):
    """Serve files (content by path) and redirects (target by path); yield the server with its ``requests``."""
    world = WebServer(files, redirects, redirect_header)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            world.requests.append(self.path)
            content = world.files.get(self.path.partition("?")[0])
            target = world.redirects.get(self.path)
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            self.send_response(302 if target else 404 if content is None else 206 if asked else 200)
            if target:
                self.send_header(world.redirect_header, target)
            elif content is not None and asked:
                begin, end = int(asked[1]), int(asked[2]) + 1
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
                content = content[begin:end]
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content or b"")

        do_HEAD = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    world.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
