"""A datacenter in network namespaces: a bridge with machines on it, each with addresses of its own, a
real dnsmasq, and programs that run where the relay does. Nothing of it outlives the process.

Needs no privilege where user namespaces are allowed: it re-executes itself in one of its own, where it
is root of a network that nobody else sees. Where they are not it must be root."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

PATIENCE = 30  # seconds, after which waiting for an event is a failure


def enter_own_network(script_arguments):
    """Starts the program again in namespaces of its own; returns if it is there already."""
    if os.environ.get("MUSTER_OWN_NETWORK"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)  # for `ip netns`
        os.mkdir("/run/netns")
        return
    # As root of nothing but a user namespace if that can be had, else as the real root.
    why = ""
    # With a process namespace, for then the kernel ends whatever a failed test has left running.
    for user in (["--user", "--map-root-user"], []):
        namespaces = [*user, "--net", "--mount", "--pid", "--mount-proc", "--fork"]
        probe = run("unshare", *namespaces, "true")
        if probe.returncode == 0:
            os.environ["MUSTER_OWN_NETWORK"] = "1"
            os.execvp("unshare", ["unshare", *namespaces, "--kill-child", sys.executable, "-B", *script_arguments])
        why += probe.stderr
    sys.exit(f"THIS TEST DID NOT RUN: uid {os.getuid()} can make no network namespace here:\n{why}")


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE)


def curl(run_command, *arguments):
    """(status, headers, body); status 0 if there was no answer."""
    done = run_command("curl", "-sS", "-i", "--noproxy", "*", "--max-time", str(PATIENCE), *arguments)
    if done.returncode != 0:
        return 0, {}, done.stderr
    head, _, body = done.stdout.partition("\n\n")
    lines = head.split("\n")
    headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split()[1]), headers, body


def make_bridge(*addresses):
    ip("link", "set", "lo", "up")
    ip("link", "add", "br0", "type", "bridge")
    for address in addresses:
        ip("addr", "add", address, "dev", "br0", *(["nodad"] if ":" in address else []))
    ip("link", "set", "br0", "up")


class Machine:
    """A network namespace on the bridge."""

    def __init__(self, name, *addresses, gateways=()):
        self.name = name
        ip("netns", "add", name)
        ip("link", "add", f"v-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", f"v-{name}", "master", "br0", "up")
        for address in addresses:
            ip("-n", name, "addr", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "lo", "up")
        for gateway in gateways:
            ip("-n", name, "route", "add", "default", "via", gateway)

    def run(self, *command):
        return run("ip", "netns", "exec", self.name, *command)

    def curl(self, *arguments):
        return curl(self.run, *arguments)

    def start(self, *command):
        return Program("ip", "netns", "exec", self.name, *command)


def eventually(so):
    """Waits until so() is true; False if it never is."""
    end = time.monotonic() + PATIENCE
    while not so():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Program:
    """A child process whose output is read as it comes."""

    def __init__(self, *command, environment=None):
        self.name = os.path.basename(command[-1] if command[0] == "ip" else command[0])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env={"PATH": os.environ["PATH"], **(environment or {})})
        self.output = ""
        self.more = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """Always, so that no program waits for somebody to read what it says."""
        with self.process.stdout as source:
            for part in iter(lambda: os.read(source.fileno(), 65536), b""):
                with self.more:
                    self.output += part.decode(errors="replace")
                    self.more.notify_all()

    def wait_for(self, text, seen=0):
        """Until the text has come behind the first `seen` characters; returns how many there are then."""
        with self.more:
            if not self.more.wait_for(lambda: text in self.output[seen:], PATIENCE):
                raise AssertionError(f"{self.name} never said {text!r}; it said:\n{self.output}")
            return len(self.output)

    def send(self, number):
        self.process.send_signal(number)

    def exit_code(self):
        """When it has ended, and all that it said is in `output`."""
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def end(self, number=signal.SIGTERM):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        return self.exit_code()


class Dnsmasq(Program):
    def __init__(self, port, *options):
        super().__init__("dnsmasq", "--no-daemon", "--user=root", "--group=root",
                         "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file=",
                         "--bind-interfaces", "--listen-address=127.0.0.1", f"--port={port}",
                         "--local-ttl=60", "--log-queries", *options)
        self.wait_for("started")


class FailingNameserver(threading.Thread):
    """Answers SERVFAIL to everything."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.start()

    def run(self):
        while True:
            question, peer = self.socket.recvfrom(4096)
            flags = struct.pack("!H", 0x8182)
            end = 12
            while question[end]:
                end += question[end] + 1
            counts = struct.pack("!HHHH", 1, 0, 0, 0)
            self.socket.sendto(question[:2] + flags + counts + question[12:end + 5], peer)


def write_secret(path, text):
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def make_certificate(folder, name, *addresses):
    """<name>.pem, which signs itself, and <name>.key."""
    names = ",".join(f"IP:{address}" for address in addresses)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName={names}", "-keyout", f"{folder}/{name}.key", "-out",
                    f"{folder}/{name}.pem"], check=True, capture_output=True)
    os.chmod(f"{folder}/{name}.key", 0o600)


def content_of(path):
    with open(path) as file:
        return file.read()


def read_json_lines(path):
    return [json.loads(line) for line in content_of(path).splitlines()]
