"""A host that knows one thing: relay-registrations, for requests that are signed with the right key."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH = "/api/muster/v1/relay-registrations"


def mac_of(token, lines):
    return base64.b64encode(hmac.new(token.encode(), "\n".join(lines).encode(), hashlib.sha256).digest()).decode()


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def hawk_header(client_id, token, method, url, path, certificate=""):
    """For a request without a body that counts."""
    host, port = re.fullmatch(r"https?://([^/:]+):(\d+)", url).groups()
    ext = base64.b64encode(json.dumps({"certificate": json.loads(certificate)}).encode()).decode() if certificate else ""
    ts, nonce = str(int(time.time())), secrets.token_urlsafe(6)
    mac = mac_of(token, ["hawk.1.header", ts, nonce, method, path, host, port, "", ext, ""])
    ext_part = f'ext="{ext}", ' if ext else ""
    return f'Hawk id="{client_id}", ts="{ts}", nonce="{nonce}", {ext_part}mac="{mac}"'


class FakeHost:
    def __init__(self, address, client_id, token, certificate, key):
        self.client_id, self.token = client_id, token
        self.expired = False
        self.bodies = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, document):
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(200, {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                problem = host.problem(self.path, self.headers, body)
                if problem:
                    return self.answer(401, {"code": "AuthenticationFailed", "message": problem})
                asked = json.loads(body)
                host.bodies.append(asked)
                self.answer(200, {"workerId": asked["hostName"].split(".")[0], "hostName": asked["hostName"],
                                  "credentials": {"clientId": "worker/" + asked["hostName"],
                                                  "accessToken": "secret-of-" + asked["hostName"]}})

        self.server = ThreadingHTTPServer((address, 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.address = address
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def problem(self, path, headers, body):
        said = dict(re.findall(r'(\w+)="([^"]*)"', headers.get("Authorization", "")))
        mac = mac_of(self.token, ["hawk.1.header", said.get("ts", ""), said.get("nonce", ""), "POST", path,
                                  self.address, str(self.port), said.get("hash", ""), "", ""])
        if path != PATH or said.get("id") != self.client_id or said.get("mac") != mac:
            return "a wrong signature"
        if said.get("hash") != digest(f"hawk.1.payload\napplication/json\n{body}\n"):
            return "another body than was signed"
        return "the client has expired" if self.expired else None
