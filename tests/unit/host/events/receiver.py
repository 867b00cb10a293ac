"""Receives webhooks as docs/events.md tells people to: its own example checks the signature.

usage: receiver.py <docs/events.md> <secret>
/hook takes what is signed, /status/<n> answers n, /seen tells what came.
"""

import http.server
import json
import re
import sys
import threading

example = {}
exec(re.search(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S).group(1), example)
secret = sys.argv[2].encode()
seen = []
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 204
        if self.path.startswith("/status/"):
            status = int(self.path.split("/")[2])
        elif not example["is_from_muster"](self.headers, body, secret):
            status = 401
        with lock:
            seen.append(
                {
                    "path": self.path,
                    "status": status,
                    "number": int(self.headers["Muster-Event-Number"]),
                    "kind": self.headers["Muster-Event-Kind"],
                    "again": self.headers["Muster-Redelivery"] == "true",
                    "event": json.loads(body),
                }
            )
        self.answer(status)

    def do_GET(self):
        with lock:
            self.answer(200, json.dumps(seen).encode())

    def answer(self, status, body=b""):
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "/hook")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
