"""A real musterd with a pool of machines of its provider/static, for benchmarks over HTTP."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time

CLIENT = "bench"
POOL = "bench/machines"
API = "/api/worker-manager/v1"


def default_program():
    """bin/musterd of the build whose folder bench/ this file is in."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bin", "musterd")


def hawk(key, client, method, resource, port, ext=""):
    ts, nonce = str(int(time.time())), secrets.token_urlsafe(6)
    text = f"hawk.1.header\n{ts}\n{nonce}\n{method}\n{resource}\n127.0.0.1\n{port}\n\n{ext}\n"
    mac = base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()).decode()
    ext_part = f'ext="{ext}", ' if ext else ""
    return f'Hawk id="{client}", ts="{ts}", nonce="{nonce}", {ext_part}mac="{mac}"'


class Host:
    def __init__(self, program, folder):
        self.folder = folder
        self.key = secrets.token_urlsafe(32)
        with open(os.open(f"{folder}/key", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(self.key)
        with open(f"{folder}/muster.toml", "w") as file:
            file.write(
                f'listen = "127.0.0.1:0"\ndataDirectory = "{folder}/data"\n'
                "[log]\nlevel = \"warning\"\n[http]\naccessLog = false\n"
                f'[auth.clients.{CLIENT}]\naccessTokenFile = "{folder}/key"\nscopes = ["*"]\n'
                # One client asks for all that the benchmarks of the queue let wait.
                "[queue]\nmostWaiting = 1000000\nmostWaitingOfTeam = 1000000\nmostOfClient = 1000000\nmostNamesOfClient = 10000\n"
                '[providers.static]\nplugin = "provider/static"\nconcurrency = 2\n'
                '[providers.simulated]\nplugin = "provider/simulated"\n')
        os.mkdir(f"{folder}/data", 0o700)
        self.process = subprocess.Popen([program, "--config", f"{folder}/muster.toml"])
        address = f"{folder}/data/address"
        until = time.monotonic() + 30
        while not os.path.exists(address):
            if self.process.poll() is not None or time.monotonic() > until:
                sys.exit("musterd did not start")
            os.sched_yield()
        self.port = int(open(address).read().strip().rsplit(":", 1)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def call(self, method, path, body=None):
        text = self.text(method, path, body)
        return json.loads(text) if text else None

    def text(self, method, path, body=None):
        headers = {"Authorization": hawk(self.key, CLIENT, method, path, self.port)}
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        except http.client.RemoteDisconnected:  # it was idle for too long
            self.connection.close()
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()[:300]}")
        return text

    def admin_token(self):
        return open(f"{self.folder}/data/admin-token").read().strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def cpu_seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_megabytes(self):
        pages = int(open(f"/proc/{self.process.pid}/statm").read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def make_workers(host, count):
    pool = POOL.replace("/", "%2F")
    host.call("PUT", f"{API}/worker-pool/{pool}", {
        "providerId": "static", "description": "", "owner": "bench@example.com",
        "emailOnError": False, "config": {"workerConfig": {"bench": True}}})
    secret = {}
    for number in range(count):
        secret[number] = secrets.token_urlsafe(33)
        host.call("PUT", f"{API}/workers/{pool}/rack/m{number}", {
            "expires": "2090-01-01T00:00:00.000Z", "capacity": 1,
            "providerInfo": {"staticSecret": secret[number]}})
    return pool, secret


def registration(number, secret):
    return {"workerPoolId": POOL, "providerId": "static", "workerGroup": "rack",
            "workerId": f"m{number}", "workerIdentityProof": {"staticSecret": secret}}
