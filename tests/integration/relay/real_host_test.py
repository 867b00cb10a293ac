#!/usr/bin/env python3
"""The whole way: machines in network namespaces with muster-agent on them, dnsmasq, muster-relay, and a musterd whose
provider/static knows machines by their host names.

usage: real_host_test.py <folder with the programs> <folder with the plugins> [unittest's arguments]"""

import json
import os
import signal
import ssl
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import world
from fake_host import hawk_header
from world import (Dnsmasq, Machine, Program, content_of, eventually, make_certificate, read_json_lines,
                   write_secret)

DNS_PORT = 5300
RELAY = "10.1.0.1"
POOL = "worker-manager/mac"
POOL_PATH = "/api/worker-manager/v1/worker-pool/" + POOL.replace("/", "%2F")
WORKERS_PATH = "/api/worker-manager/v1/workers/" + POOL.replace("/", "%2F")
EXAMPLE_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../agent/example-worker.sh")

ZONE = [
    "--host-record=mac-01.dc1.example.com,10.1.0.11,fd00:1::11",
    "--ptr-record=12.0.1.10.in-addr.arpa,mac-01.dc1.example.com",
    "--host-record=laptop.dc1.example.com,10.1.0.13",
    "--host-record=rack7-u12.dc1.example.com,10.1.0.14",
    "--local=/dc1.example.com/", "--local=/10.in-addr.arpa/",
]


class RelayAndHost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        world.make_bridge("10.1.0.1/24", "fd00:1::1/64")
        cls.good = Machine("good", "10.1.0.11/24", "fd00:1::11/64")
        cls.spoofer = Machine("spoofer", "10.1.0.12/24")
        cls.laptop = Machine("laptop", "10.1.0.13/24")
        cls.named = Machine("named", "10.1.0.14/24")
        make_certificate(cls.folder, "relay", RELAY)
        make_certificate(cls.folder, "host", RELAY)
        with open(f"{cls.folder}/both.pem", "w") as file:
            file.write(content_of(f"{cls.folder}/relay.pem") + content_of(f"{cls.folder}/host.pem"))
        cls.tasks = f"{cls.folder}/tasks"
        os.mkdir(cls.tasks)
        cls.tls = ssl.create_default_context(cafile=f"{cls.folder}/host.pem")
        for client in ("good", "expired", "other"):
            write_secret(f"{cls.folder}/{client}-token", f"the-token-of-the-relay-{client}-0123456789")
        cls.dns = Dnsmasq(DNS_PORT, *ZONE)
        cls.musterd = cls.start_host()
        cls.set_pool("PUT", "first")

    @classmethod
    def tearDownClass(cls):
        cls.musterd.end()
        cls.dns.end(signal.SIGKILL)
        cls.temporary.cleanup()

    @classmethod
    def start_host(cls):
        with open(f"{cls.folder}/muster.toml", "w") as file:
            file.write(f'''
listen = "{RELAY}:0"
dataDirectory = "data"
pluginFolders = ["{PLUGINS}"]
[http.tls]
certificateFile = "host.pem"
keyFile = "host.key"
[auth.clients."relay/good"]
accessTokenFile = "good-token"
scopes = ["muster:relay:dc1"]
[auth.clients."relay/expired"]
accessTokenFile = "expired-token"
scopes = ["muster:relay:dc1"]
expires = "2020-01-01T00:00:00Z"
[auth.clients."relay/other"]
accessTokenFile = "other-token"
scopes = ["muster:relay:dc2"]
[providers.dc1]
plugin = "provider/static"
[providers.dc1.config]
region = "dc1"
[providers.dc1.config.pools."{POOL}"]
hostNames = ["mac-*.dc1.example.com"]
[[providers.dc1.config.machines]]
workerPoolId = "{POOL}"
workerId = "u12"
hostName = "rack7-u12.dc1.example.com"
''')
        musterd = Program(f"{PROGRAMS}/musterd", "--config", f"{cls.folder}/muster.toml")
        musterd.wait_for("musterd serves https://")
        cls.url = content_of(f"{cls.folder}/data/address").strip()
        cls.admin = "Bearer " + content_of(f"{cls.folder}/data/admin-token").strip()
        return musterd

    @classmethod
    def call(cls, method, path, authorization, body=None):
        """(status, document)"""
        request = urllib.request.Request(cls.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": authorization,
                                                  "Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=cls.tls))
        try:
            with opener.open(request, timeout=world.PATIENCE) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    @classmethod
    def set_pool(cls, method, value):
        status, answer = cls.call(method, POOL_PATH, cls.admin, {
            "providerId": "dc1", "description": "", "owner": "team@example.com", "emailOnError": False,
            "config": {"lifecycle": {"reregistrationTimeout": 6},
                       "workerConfig": {"tasks": cls.tasks, "environment": {"VALUE": value}}}})
        if status != 200:
            raise AssertionError(f"no pool: {status} {answer}\n{cls.musterd.output}")

    def start_relay(self, client):
        self.audit = f"{self.folder}/audit-{self._testMethodName}"
        with open(f"{self.folder}/relay.toml", "w") as file:
            file.write(f'''
listen = "0.0.0.0:8650"
allowedNetworks = ["10.1.0.0/24"]
allowedNames = ["*.dc1.example.com"]
[tls]
certificateFile = "relay.pem"
keyFile = "relay.key"
[host]
url = "{self.url}"
caFile = "host.pem"
providerId = "dc1"
clientId = "relay/{client}"
accessTokenFile = "{client}-token"
[dns]
servers = ["127.0.0.1:{DNS_PORT}"]
[audit]
file = "{self.audit}"
''')
        relay = Program(f"{PROGRAMS}/muster-relay", "--config", f"{self.folder}/relay.toml")
        self.addCleanup(lambda: self.assertEqual(relay.end(), 0, relay.output))
        relay.wait_for("muster-relay serves https://")

    def ask(self, machine, body="{}"):
        status, headers, text = machine.curl("--cacert", f"{self.folder}/relay.pem", "-X", "POST", "-H",
                                             "Content-Type: application/json", "-d", body,
                                             f"https://{RELAY}:8650/api/muster-relay/v1/register")
        return status, headers, json.loads(text) if status else text

    def workers(self):
        """Those that have come; of the one that the configuration names, test 8 tells."""
        answer = self.call("GET", WORKERS_PATH, self.admin)[1]
        return [w["workerId"] for w in answer["workers"] if w["state"] == "running" and w["workerId"] != "u12"]

    def start_agent(self, machine, more=""):
        folder = f"{self.folder}/{machine.name}"
        with open(f"{folder}.toml", "w") as file:
            file.write(f'''
rootUrl = "{self.url}"
caFile = "both.pem"
folder = "{folder}"
[identity]
kind = "relay"
relayUrl = "https://{RELAY}:8650"
[worker]
command = ["{EXAMPLE_WORKER}"]
[timings]
retryMin = "50ms"
retryMax = "200ms"
{more}
''')
        agent = machine.start(f"{PROGRAMS}/muster-agent", "--config", f"{folder}.toml")
        self.addCleanup(agent.end, signal.SIGKILL)
        return agent

    def do(self, name, script):
        """What a worker writes when it does this."""
        with open(f"{self.tasks}/{name}.new", "w") as file:
            file.write(script)
        os.rename(f"{self.tasks}/{name}.new", f"{self.tasks}/{name}.task")
        log = f"{self.tasks}/done/{name}.log"
        self.assertTrue(eventually(lambda: os.path.exists(log)), os.listdir(self.tasks))
        return content_of(log)

    def test_1_credentials_that_have_expired_or_are_for_others_register_nobody(self):
        for client, status in (("expired", 401), ("other", 403)):
            with self.subTest(client):
                self.start_relay(client)
                answer = self.ask(self.good)
                self.assertEqual((answer[0], answer[2]["code"]), (503, "RelayNotAccepted"), answer)
                self.assertEqual(read_json_lines(self.audit)[-1]["hostStatus"], status)
                self.doCleanups()
        self.assertEqual(self.workers(), [])

    def test_2_machines_that_are_not_who_they_say_register_nobody(self):
        self.start_relay("good")
        self.assertEqual(self.ask(self.spoofer)[2]["code"], "NameNotConfirmed")
        # The relay vouches for this one, but the host wants no such name.
        status, _, answer = self.ask(self.laptop)
        self.assertIn(status, (400, 404), answer)
        self.assertNotEqual(answer["code"], "NameNotAllowed")
        self.assertEqual(read_json_lines(self.audit)[-1]["reason"], "hostRefused")
        self.assertEqual(self.workers(), [])

    def test_3_the_right_machine_becomes_a_worker_with_credentials_that_work(self):
        self.start_relay("good")
        status, _, answer = self.ask(self.good)
        self.assertEqual(status, 200, answer)
        self.assertEqual((answer["workerPoolId"], answer["workerGroup"], answer["workerId"]), (POOL, "dc1", "mac-01"))
        self.assertEqual(answer["workerConfig"]["environment"], {"VALUE": "first"})
        self.assertEqual(self.workers(), ["mac-01"])
        path = f"{WORKERS_PATH}/dc1/mac-01/should-terminate"
        credentials = answer["credentials"]
        signed = hawk_header(credentials["clientId"], credentials["accessToken"], "GET", self.url, path,
                             credentials["certificate"])
        status, verdict = self.call("GET", path, signed)
        self.assertEqual(status, 200, verdict)
        self.assertNotIn(credentials["accessToken"], content_of(self.audit))
        status, events = self.call("GET", "/api/muster/v1/events?kind=relay-registration&after=0&limit=100", self.admin)
        self.assertEqual(status, 200, events)
        accepted = [e for e in events["events"] if e["details"]["accepted"]]
        self.assertEqual([(e["details"]["hostName"], e["details"]["address"], e["details"]["relay"]) for e in accepted],
                         [("mac-01.dc1.example.com", "10.1.0.11", "relay/good")])

    def test_4_a_machine_may_come_again(self):
        self.start_relay("good")
        first, second = self.ask(self.good), self.ask(self.good)
        self.assertEqual((first[0], second[0]), (200, 200), (first, second))
        self.assertEqual(self.workers(), ["mac-01"])

    def test_5_the_relays_own_credentials_can_do_nothing_else(self):
        token = content_of(f"{self.folder}/good-token")
        for method, path in (("GET", "/api/muster/v1/status"), ("GET", "/api/muster/v1/events"),
                             ("GET", "/api/muster/v1/clients"), ("POST", "/api/muster/v1/plugins/rescan"),
                             ("DELETE", POOL_PATH), ("DELETE", f"{WORKERS_PATH}/dc1/mac-01")):
            signed = hawk_header("relay/good", token, method, self.url, path)
            status, answer = self.call(method, path, signed)
            self.assertEqual(status, 403, (method, path, answer))

    def test_6_the_agent_of_a_machine_that_lies_never_registers(self):
        self.start_relay("good")
        agent = self.start_agent(self.spoofer)
        agent.wait_for("NameNotConfirmed")
        self.assertEqual(agent.exit_code(), 23)

    def test_7_agents_get_credentials_by_the_relay_do_the_work_and_renew_with_the_host(self):
        self.start_relay("good")
        agent = self.start_agent(self.good)
        agent.wait_for('"message":"registered"')
        self.assertIn('"workerId":"mac-01"', agent.output)
        self.assertEqual(self.do("one", "echo $MUSTER_WORKER_ID has $VALUE\n"), "mac-01 has first\nexit code 0\n")
        self.set_pool("POST", "second")
        seen = agent.wait_for('"message":"renewed"')
        agent.wait_for('"message":"renewed"', seen)  # the one before may have come too early
        self.assertEqual(self.do("two", "echo $VALUE\n"), "second\nexit code 0\n")
        registrations = [line for line in read_json_lines(self.audit) if line["decision"] == "accepted"]
        self.assertEqual(len(registrations), 1)  # the relay is not asked for renewals
        self.assertEqual(agent.end(), 0)
        # And again, after its service was restarted.
        again = self.start_agent(self.good)
        again.wait_for('"message":"registered"')
        self.assertEqual(again.end(), 0)

    def test_8_a_machine_of_the_configuration_is_known_before_it_comes_and_has_the_name_it_has_there(self):
        self.start_relay("good")
        known = lambda: [w["workerId"] for w in self.call("GET", WORKERS_PATH, self.admin)[1]["workers"]]
        self.assertTrue(eventually(lambda: "u12" in known()), known())
        agent = self.start_agent(self.named)
        agent.wait_for('"message":"registered"')
        self.assertIn('"workerId":"u12"', agent.output)
        self.assertEqual(self.do("three", "echo $MUSTER_WORKER_ID\n"), "u12\nexit code 0\n")
        agent.wait_for('"message":"renewed"')
        # Taken off the list, it ends with the code for that.
        self.assertEqual(self.call("DELETE", f"{WORKERS_PATH}/dc1/u12", self.admin)[0], 200)
        agent.send(signal.SIGHUP)  # renews now
        self.assertEqual(agent.exit_code(), 20)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    PROGRAMS, PLUGINS = (os.path.abspath(folder) for folder in sys.argv[1:3])
    world.enter_own_network([os.path.abspath(__file__), *sys.argv[1:]])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
