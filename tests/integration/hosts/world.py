"""What tests of several hosts need: a PostgreSQL server, a proxy in front of it, a lab of machines, and hosts."""

import base64
import http.client
import http.server
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

POSTGRES = "/usr/lib/postgresql/15/bin/"
TOKEN = "a-token-that-all-hosts-of-this-test-share-0123456789"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(is_so, patience=60):
    """Waits until it is so and returns it; fails after `patience` seconds."""
    end = time.monotonic() + patience
    while True:
        found = is_so()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"did not become so in {patience} s: {is_so}")
        time.sleep(0.02)


class Postgres:
    """A server of its own, as a user without rights. With `standby_of` a copy that follows that server. With the library
    `full_disk`, its files cannot grow while the file `no_room` is there."""

    def __init__(self, folder, standby_of=None, settings="", full_disk=None):
        self.port = free_port()
        self.folder = os.path.join(folder, f"postgres-{self.port}")
        os.mkdir(self.folder)
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.cluster = os.path.join(self.folder, "cluster")
        self.no_room = os.path.join(self.folder, "no-room")
        # Copied, because its user may not read the folder of the build.
        self.variables = {"LD_PRELOAD": shutil.copy(full_disk, self.folder), "MUSTER_TEST_NO_ROOM": self.no_room} if full_disk else {}
        if standby_of:
            self.run("pg_basebackup", "-D", self.cluster, "-h", "127.0.0.1", "-p", str(standby_of.port), "-U", "postgres",
                     "--checkpoint=fast", "--no-sync", "-R")
        else:
            self.run("initdb", "-D", self.cluster, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8",
                     "--locale=C.UTF-8")
        with open(os.path.join(self.cluster, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write(f"\nport = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\n"
                       f"fsync = off\nshared_buffers = 16MB\nautovacuum = off\n{settings}\n")
        self.start()

    def command(self, program, *arguments):
        def become_user():
            os.setsid()
            if self.user:
                os.setgroups([])
                os.setgid(self.user.pw_gid)
                os.setuid(self.user.pw_uid)
        path = POSTGRES + program if os.path.exists(POSTGRES + program) else "/usr/bin/" + program
        return dict(args=[path, *arguments], preexec_fn=become_user, cwd=self.folder,
                    env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "HOME": self.folder, **self.variables})

    def run(self, program, *arguments):
        done = subprocess.run(**self.command(program, *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{program} failed: {done.stdout.decode()}")
        return done.stdout.decode().strip()

    def start(self):
        with open(os.path.join(self.folder, "output"), "ab") as output:
            self.process = subprocess.Popen(**self.command("postgres", "-D", self.cluster), stdout=output, stderr=output)

        def ready():
            try:
                return self.run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)) == ""
            except AssertionError:
                return False
        eventually(ready)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def sql(self, text):
        return self.run("psql", "-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-c", text)


class Proxy:
    """Between a host and its database: can be cut, and can be slow."""

    def __init__(self, target_port):
        self.target_port, self.cut_off, self.delay = target_port, False, 0
        self.sockets = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.cut_off:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target_port))
            except OSError:
                client.close()
                continue
            self.sockets |= {client, server}
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.relay, args=(a, b), daemon=True).start()

    def relay(self, a, b):
        try:
            while data := a.recv(65536):
                if self.delay:
                    time.sleep(self.delay)
                b.sendall(data)
        except OSError:
            pass
        for one in (a, b):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.sockets.discard(one)

    def cut(self):
        self.cut_off = True
        for one in list(self.sockets):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def reopen(self):
        self.cut_off = False


class Lab:
    """A provider behind the bridge that notes every call: one machine for each key, ever."""

    def __init__(self):
        self.lock, self.machines, self.epochs, self.stale_calls = threading.Lock(), {}, [], []
        lab = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                ask = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                with lab.lock:
                    answer = lab.answer(self.path.rsplit("/", 1)[-1], ask)
                text = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, method, ask):
        epoch = ask.get("owner", {}).get("epoch")
        if epoch is not None:
            if self.epochs and epoch < max(self.epochs):
                self.stale_calls.append((method, epoch))
            self.epochs.append(epoch)
        if method == "placements":
            return {"placements": [{"facts": {"region": "lab"}}]}
        if method == "expand":
            return {"launchDocuments": [{"document": {"bridge": {}}}]}
        if method == "list":
            return {"instances": list(self.machines.values())}
        if method == "notices":
            return {"notices": []}
        if method == "bid":
            return {"bids": [{"launchConfigId": c["launchConfig"]["launchConfigId"], "capacityPerInstance": 1,
                              "instances": min(10, c.get("maxInstances", 10)), "pricePerCapacityHour": 0.01} for c in ask["candidates"]]}
        if method == "allocate":
            return {"launches": [{"idempotencyKey": key, "instance": self.launch(ask, key)} for key in ask["idempotencyKeys"]]}
        if method == "terminate":
            for worker in ask["workers"]:
                for key, machine in list(self.machines.items()):
                    if machine["workerId"] == worker["workerId"]:
                        del self.machines[key]
            return {}
        return {"error": {"class": "unsupported", "message": method}}

    def launch(self, ask, key):
        config = ask["launchConfig"]
        return self.machines.setdefault(key, {
            "workerGroup": "lab", "workerId": f"lab-{len(self.machines)}", "idempotencyKey": key, "state": "running",
            "workerPoolId": config["workerPoolId"], "launchConfigId": config["launchConfigId"], "epoch": ask["owner"]["epoch"],
            "tags": ask["tags"], "created": "2026-01-01T00:00:00Z", "providerData": {"v": 1}})


class Host:
    """A musterd of its own folder and port, with the same token as the others."""

    def __init__(self, programs, plugins, folder, name, database, lab_url, lease="2s"):
        self.programs, self.name, self.port = programs, name, free_port()
        self.folder = os.path.join(folder, name)
        self.url = f"http://127.0.0.1:{self.port}"
        os.makedirs(os.path.join(self.folder, "workers"))
        self.write_key(b"one key for all hosts of a world")
        token = os.path.join(self.folder, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write(TOKEN)
        os.chmod(token, 0o600)
        with open(os.path.join(self.folder, "workers", "lab.toml"), "w", encoding="utf-8") as file:
            file.write('workerTypes = ["lab"]\n[[rules]]\nruleId = "all"\n[rules.values]\nproviders = ["lab"]\nminCapacity = 3\n'
                       'maxCapacity = 3\nowner = "o@example.com"\ndescription = "d"\n')
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(f'listen = "127.0.0.1:{self.port}"\ndataDirectory = "{self.folder}/data"\npluginFolders = ["{plugins}"]\n'
                       f'workerConfigurations = "{self.folder}/workers"\n'
                       f'[auth]\nadminTokenFile = "{token}"\n[store]\npostgres = "{database}"\n'
                       f'[hosts]\nname = "{name}"\nlease = "{lease}"\n'
                       f'[providers.lab]\nplugin = "provider/bridge"\n[providers.lab.config]\nurl = "{lab_url}"\n')
        self.process = None

    @property
    def configuration(self):
        return os.path.join(self.folder, "muster.toml")

    def write_key(self, key):
        """The key that decrypts the secrets of clients; 32 bytes."""
        os.makedirs(os.path.join(self.folder, "data"), exist_ok=True)
        file = os.path.join(self.folder, "data", "secrets.key")
        with open(file, "wb") as out:
            out.write(base64.b64encode(key) + b"\n")
        os.chmod(file, 0o600)

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen([os.path.join(self.programs, "musterd"), "--config", self.configuration],
                                            stdout=log, stderr=log)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, method, path, body=None, timeout=60):
        """Status and document; status 0 if there is no answer."""
        request = urllib.request.Request(self.url + path, method=method, headers={"Authorization": "Bearer " + TOKEN})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            try:
                return error.code, json.load(error)
            except ValueError:
                return error.code, {}
        except (OSError, ValueError, http.client.HTTPException):
            return 0, {}

    def role(self):
        status, document = self.ask("GET", "/readyz", timeout=2)
        return document.get("role", "neither") if status == 200 else "neither"


class World:
    """A database, a lab, and hosts."""

    def __init__(self, programs, plugins, hosts=2, through_proxies=False, address=None, lease="2s", postgres_settings="",
                 full_disk=None):
        self.folder = tempfile.mkdtemp(prefix="muster-hosts-")
        os.chmod(self.folder, 0o755)
        self.postgres = Postgres(self.folder, settings=postgres_settings, full_disk=full_disk)
        self.lab = Lab()
        self.proxies = [Proxy(self.postgres.port) for _ in range(hosts)] if through_proxies else []
        ports = [proxy.port for proxy in self.proxies] or [self.postgres.port] * hosts
        self.hosts = [Host(programs, plugins, self.folder, f"host-{i}",
                           address or f"postgresql://postgres@127.0.0.1:{ports[i]}/postgres", self.lab.url, lease)
                      for i in range(hosts)]

    def start(self):
        for host in self.hosts:
            host.start()
        self.leader()

    def leader(self, but=None, patience=60):
        return eventually(lambda: next((h for h in self.hosts if h is not but and h.role() == "leading"), None), patience)

    def follower(self):
        return eventually(lambda: next((h for h in self.hosts if h.role() == "following"), None))

    def close(self):
        for host in self.hosts:
            try:
                host.signal(signal.SIGCONT)
            except (OSError, AttributeError):
                pass
            host.kill()
        self.postgres.kill()
        self.lab.server.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)


class Writer(threading.Thread):
    """Makes team after team through all hosts by turns and notes those that were acknowledged."""

    def __init__(self, hosts):
        super().__init__(daemon=True)
        self.hosts, self.acknowledged, self.refused, self.done = hosts, [], 0, False
        self.start()

    def run(self):
        number = 0
        while not self.done:
            number += 1
            team = f"team-{number}"
            status, _ = self.hosts[number % len(self.hosts)].ask("PUT", f"/api/muster/v1/teams/{team}", {"weight": 2}, timeout=8)
            if status == 200:
                self.acknowledged.append(team)
            else:
                self.refused += 1

    def stop(self):
        self.done = True
        self.join(60)
        return self.acknowledged
