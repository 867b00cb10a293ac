"""A host with the local provider in a folder of its own, for benchmarks: started, asked, and gone with all its workers."""

import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE = 60
POOL = "worker-manager/bench"
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")

IMPLEMENTATION = """#!/bin/sh
echo idle >"$MUSTER_REPORTS"
exec sleep infinity
"""

HOST = """
listen = "127.0.0.1:0"
dataDirectory = "data"
pluginFolders = ["{build}/lib/muster/plugins"]
workerConfigurations = "workers"
[http]
accessLog = false
{tls}
[demand.tasks]
type = "folder"
folder = "tasks"
[fleet]
listEvery = "10s"
[providers.local]
plugin = "provider/local"
launch = {{ perSecond = 1000, burst = 1000 }}
[providers.local.config]
folder = "{folder}/local"
maxWorkers = 1000
images = {{ idle = ["{folder}/implementation"] }}
keepStopped = "1ms"
{ca_file}
"""

WORKERS = """workerTypes = ["bench"]
[[rules]]
ruleId = "all"
description = "All of them"
[rules.values]
providers = ["local"]
owner = "bench@example.com"
description = "Workers that do nothing"
maxCapacity = {most}
scalingRatio = 0.0
local.image = "idle"
lifecycle.idleTimeout = "1h"
"""


def write(path, text, mode=0o644):
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode), "w") as file:
        file.write(text)


def wait_until(so, what):
    end = time.monotonic() + PATIENCE
    while not (found := so()):
        if time.monotonic() > end:
            sys.exit(f"never: {what}")
        time.sleep(0.005)
    return found


class LocalHost:
    def __init__(self, most, tls=False):
        """Has so many workers at most: nobody takes the tasks, so that there is demand for ever more."""
        self.place = tempfile.TemporaryDirectory()
        self.folder = folder = self.place.name
        os.chmod(folder, 0o711)  # as root, workers are another user
        self.tasks = f"{folder}/tasks/{POOL}"
        os.makedirs(self.tasks)
        os.mkdir(f"{folder}/workers")
        write(f"{folder}/workers/bench.toml", WORKERS.format(most=most))
        write(f"{folder}/implementation", IMPLEMENTATION, 0o755)
        tls_lines = ca_file = ""
        self.trust = None
        if tls:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "2", "-subj", "/CN=host", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                            f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"], check=True, capture_output=True)
            os.chmod(f"{folder}/key.pem", 0o600)
            tls_lines = '[http.tls]\ncertificateFile = "certificate.pem"\nkeyFile = "key.pem"'
            ca_file = f'caFile = "{folder}/certificate.pem"'
            self.trust = ssl.create_default_context(cafile=f"{folder}/certificate.pem")
        write(f"{folder}/muster.toml",
              HOST.format(build=os.path.realpath(BUILD), folder=folder, tls=tls_lines, ca_file=ca_file))
        self.log = open(f"{folder}/log", "w")
        self.process = subprocess.Popen([f"{BUILD}/bin/musterd", "--config", f"{folder}/muster.toml"], stderr=self.log)
        self.url = wait_until(self.address, "a host that serves")
        self.token = open(f"{folder}/data/admin-token").read().strip()
        wait_until(lambda: self.ask("GET", "/pools")["pools"], "a pool")

    def address(self):
        text = open(f"{self.folder}/log").read()
        if self.process.poll() is not None:
            sys.exit("musterd did not start: " + text)
        found = re.search(r"serves (https?://[0-9.:]+)", text)
        return found and found.group(1)

    def ask(self, method, path):
        request = urllib.request.Request(f"{self.url}/api/muster/v1{path}", method=method,
                                         headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as answer:
            return json.loads(answer.read() or "{}")

    def workers(self, state):
        answer = self.ask("GET", f"/pools/{POOL.replace('/', '%2F')}/workers?limit=1000")
        return [worker["workerId"] for worker in answer["workers"] if worker["state"] == state]

    def demand(self, names):
        """Says that so many tasks wait; returns when it was said."""
        for name in names:
            write(f"{self.tasks}/.{name}", "true\n")
        said = time.time()
        for name in names:
            os.rename(f"{self.tasks}/.{name}", f"{self.tasks}/{name}.task")
        return said

    def no_demand(self):
        for name in os.listdir(self.tasks):
            os.remove(f"{self.tasks}/{name}")

    def agents(self):
        pids = []
        for name in os.listdir(f"{self.folder}/local") if os.path.isdir(f"{self.folder}/local") else []:
            try:
                pid = int(open(f"{self.folder}/local/{name}/lock").read())
                if f"{name}/agent.json" in open(f"/proc/{pid}/cmdline").read():
                    pids.append(pid)
            except (OSError, ValueError):
                continue
        return pids

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        agents = self.agents()
        for pid in agents:
            os.kill(pid, signal.SIGKILL)  # the kernel ends their implementations
        wait_until(lambda: not self.agents(), "an end of all agents")
        self.place.cleanup()
