# A Taskcluster Queue and an endpoint of pending counts for tests. It checks signatures by itself, with nothing but
# Python's own library. Prints its address; serves until it is killed.
#
# Behaviour by what is asked for: a pool whose name begins with `broken` answers 500, `garbage` no JSON, `negative` a
# negative count, `forbidden` 403, `slow` never, `huge` more bytes than anybody wants. All others have as many pending
# tasks as the number at the end of their name says. Environment: SKEW seconds the server's clock is off; LEGACY=1: its
# 401 has only a Date header.
import base64, hashlib, hmac, json, os, re, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

CLIENTS = {"muster": "very-secret-access-token"}
SKEW = int(os.environ.get("SKEW", "0"))
CERTIFICATE = os.environ.get("CERTIFICATE")
lock = threading.Lock()
seen = {"connections": 0, "requests": 0, "atOnce": 0, "most": 0, "nonces": set(), "refused": 0}


def mac(key, text):
    return base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()).decode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        with lock:
            seen["connections"] += 1

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(time.time() + SKEW)

    def answer(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, why):
        with lock:
            seen["refused"] += 1
        headers = []
        if not os.environ.get("LEGACY"):
            ts = str(int(time.time() + SKEW))
            headers.append(("WWW-Authenticate", 'Hawk ts="%s", tsm="%s", error="%s"' % (
                ts, mac(CLIENTS["muster"], "hawk.1.ts\n" + ts + "\n"), why)))
        self.answer(401, {"code": "AuthenticationFailed", "message": why}, headers)

    # What is wrong with the signature; None if nothing is.
    def signature_fault(self):
        header = self.headers.get("Authorization", "")
        if not header.startswith("Hawk "):
            return "no Hawk"
        at = dict(re.findall(r'(\w+)="([^"\\]*)"', header))
        key = CLIENTS.get(at.get("id"))
        if key is None:
            return "unknown client"
        host, _, port = self.headers["Host"].partition(":")
        text = "\n".join(["hawk.1.header", at["ts"], at["nonce"], self.command, self.path, host.lower(), port or "80",
                          at.get("hash", ""), at.get("ext", ""), ""])
        if not hmac.compare_digest(mac(key, text), at["mac"]):
            return "Bad mac"
        if abs(time.time() + SKEW - int(at["ts"])) > 900:
            return "Stale timestamp"
        with lock:
            if at["nonce"] in seen["nonces"]:
                return "nonce used twice"
            seen["nonces"].add(at["nonce"])
        if CERTIFICATE:
            ext = json.loads(base64.b64decode(at.get("ext", "")) or b"{}")
            if ext.get("certificate") != json.loads(CERTIFICATE):
                return "no certificate"
        return None

    def do_GET(self):
        if self.path == "/seen":
            with lock:
                return self.answer(200, {k: v for k, v in seen.items() if k != "nonces"})
        with lock:
            seen["requests"] += 1
            seen["atOnce"] += 1
            seen["most"] = max(seen["most"], seen["atOnce"])
        try:
            self.serve()
        finally:
            with lock:
                seen["atOnce"] -= 1

    def serve(self):
        if self.path.startswith("/pending/"):
            return self.serve_pending(self.path[len("/pending/"):])
        match = re.fullmatch(r"/base/api/queue/v1/task-queues/([^/]+)/counts", self.path)
        if not match:
            return self.answer(404, {"code": "ResourceNotFound"})
        fault = self.signature_fault()
        if fault:
            return self.refuse(fault)
        name = unquote(match[1]).split("/")[1]
        if name.startswith("broken"):
            return self.answer(500, b"oops")
        if name.startswith("garbage"):
            return self.answer(200, b"<html>")
        if name.startswith("negative"):
            return self.answer(200, {"pendingTasks": -1, "claimedTasks": 0})
        if name.startswith("forbidden"):
            return self.answer(403, {"code": "InsufficientScopes"})
        if name.startswith("huge"):
            return self.answer(200, b" " * 10_000_000)
        if name.startswith("slow"):
            threading.Event().wait()
        number = int(re.search(r"(\d+)$", name)[1])
        self.answer(200, {"taskQueueId": unquote(match[1]), "pendingTasks": number, "claimedTasks": 1})

    def serve_pending(self, kind):
        if self.headers.get("Authorization") != "Bearer token-of-the-queue":
            return self.answer(401, {})
        if kind == "good":
            return self.answer(200, {"p/a": 3, "p/b": {"pending": 2, "claimed": 1}, "p/unknown": 9})
        if kind == "odd":
            return self.answer(200, {"p/a": -3, "p/b": 1.5, "p/c": "4", "p/d": {"pending": 1, "x": 2}, "p/e": {}, "p/f": 6})
        if kind == "list":
            return self.answer(200, [1])
        if kind == "garbage":
            return self.answer(200, b"{")
        if kind == "huge":
            return self.answer(200, b" " * 20_000_000)
        if kind == "redirect":
            return self.answer(302, b"", [("Location", "/pending/good")])
        self.answer(500, b"")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # clients that hang up are part of the tests


server = Server(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
