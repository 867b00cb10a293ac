#!/usr/bin/env python3
"""muster-relay between real machines and a real DNS server.

usage: relay_test.py <folder with muster-relay> [unittest's arguments]"""

import json
import os
import signal
import sys
import tempfile
import unittest

import world
from fake_host import FakeHost
from world import Dnsmasq, FailingNameserver, Machine, Program, make_certificate, read_json_lines, write_secret

DNS_PORT, FAILING_PORT = 5300, 5301
RELAY = "10.1.0.1", "fd00:1::1"
REGISTER = "/api/muster-relay/v1/register"

ZONE = [
    "--host-record=mac-01.dc1.example.com,10.1.0.11,fd00:1::11",
    # A machine that has given itself the reverse name of another.
    "--ptr-record=12.0.1.10.in-addr.arpa,mac-01.dc1.example.com",
    "--host-record=laptop.stranger.example,10.1.0.13",
    # All is right with this one but the network that it is in.
    "--host-record=mac-14.dc1.example.com,10.2.0.14",
    # Several names: one strange, one that leads elsewhere, one that is an alias.
    "--ptr-record=15.0.1.10.in-addr.arpa,zzz.stranger.example",
    "--ptr-record=15.0.1.10.in-addr.arpa,MAC-15.dc1.example.com",
    "--ptr-record=15.0.1.10.in-addr.arpa,mac-02.dc1.example.com",
    "--host-record=node-15.dc1.example.com,10.1.0.15",
    "--cname=mac-15.dc1.example.com,node-15.dc1.example.com",
    "--address=/mac-02.dc1.example.com/10.1.0.99",
    # Its own zone is served by somebody who fails.
    "--ptr-record=16.0.1.10.in-addr.arpa,mac-16.broken.example.com",
    f"--server=/broken.example.com/127.0.0.1#{FAILING_PORT}",
    # 10.1.0.17 has no name; 10.1.0.18 has one that is nowhere.
    "--ptr-record=18.0.1.10.in-addr.arpa,mac-18.dc1.example.com",
    "--host-record=proxy.dc1.example.com,10.1.0.19",
    "--local=/dc1.example.com/", "--local=/10.in-addr.arpa/", "--local=/stranger.example/",
]


class RelayOfADatacenter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        world.make_bridge("10.1.0.1/24", "10.2.0.1/24", "fd00:1::1/64")
        cls.good = Machine("good", "10.1.0.11/24", "fd00:1::11/64")
        cls.spoofer = Machine("spoofer", "10.1.0.12/24")
        cls.stranger = Machine("stranger", "10.1.0.13/24")
        cls.elsewhere = Machine("elsewhere", "10.2.0.14/24", gateways=["10.2.0.1"])
        cls.many = Machine("many", "10.1.0.15/24")
        cls.broken = Machine("broken", "10.1.0.16/24")
        cls.nameless = Machine("nameless", "10.1.0.17/24")
        cls.nowhere = Machine("nowhere", "10.1.0.18/24")
        cls.proxy = Machine("proxy", "10.1.0.19/24")
        make_certificate(cls.folder, "relay", *RELAY)
        make_certificate(cls.folder, "host", "127.0.0.1")
        write_secret(f"{cls.folder}/token", "the-relays-own-token")
        FailingNameserver(FAILING_PORT)
        cls.host = FakeHost("127.0.0.1", "relay/dc1", "the-relays-own-token", f"{cls.folder}/host.pem",
                            f"{cls.folder}/host.key")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        self.host.expired = False
        self.host.bodies.clear()
        self.dns = Dnsmasq(DNS_PORT, *ZONE)
        self.audit = f"{self.folder}/audit-{self._testMethodName}"
        self.relay = self.start()

    def tearDown(self):
        self.assertEqual(self.relay.end(), 0, self.relay.output)
        self.dns.end(signal.SIGKILL)
        for secret in ("secret-of-", "the-relays-own-token"):
            self.assertNotIn(secret, self.relay.output)
            self.assertNotIn(secret, world.content_of(self.audit))

    def configure(self, **more):
        settings = {"proxies": [], "burst": 20, **more}
        with open(f"{self.folder}/relay.toml", "w") as file:
            file.write(f'''
listen = "[::]:8650"
allowedNetworks = ["10.1.0.0/24", "fd00:1::/64", "127.0.0.1"]
allowedNames = ["mac-*.dc1.example.com", "mac-*.broken.example.com"]
trustedProxies = {json.dumps(settings["proxies"])}
[tls]
certificateFile = "relay.pem"
keyFile = "relay.key"
[host]
url = "https://127.0.0.1:{self.host.port}"
caFile = "host.pem"
providerId = "dc1"
clientId = "relay/dc1"
accessTokenFile = "token"
[dns]
servers = ["127.0.0.1:{DNS_PORT}"]
timeout = "300ms"
tries = 2
deadline = "1s"
[limits]
requestsPerMinute = 6
burst = {settings["burst"]}
[audit]
file = "{self.audit}"
[log]
format = "json"
''')

    def start(self, **more):
        self.configure(**more)
        relay = Program(f"{PROGRAMS}/muster-relay", "--config", f"{self.folder}/relay.toml")
        relay.wait_for("muster-relay serves https://")
        return relay

    def restart(self, **more):
        self.assertEqual(self.relay.end(), 0, self.relay.output)
        self.relay = self.start(**more)

    def ask(self, machine, *arguments, at=RELAY[0]):
        url = f"https://[{at}]:8650{REGISTER}" if ":" in at else f"https://{at}:8650{REGISTER}"
        status, headers, body = machine.curl("--cacert", f"{self.folder}/relay.pem", "-X", "POST", "-H",
                                             "Content-Type: application/json", "-d", "{}", *arguments, url)
        return status, headers, json.loads(body) if status else body

    def assert_refused(self, answer, status, code):
        self.assertEqual(answer[0], status, answer)
        self.assertEqual(answer[2]["code"], code, answer)
        self.assertEqual(self.host.bodies, [])
        line = read_json_lines(self.audit)[-1]
        self.assertEqual(line["status"], status)
        self.assertNotEqual(line["decision"], "accepted")
        self.assertEqual(line["acceptedName"], "")
        return line

    def test_a_spoofed_reverse_name_is_not_confirmed(self):
        line = self.assert_refused(self.ask(self.spoofer), 403, "NameNotConfirmed")
        self.assertEqual(line["names"], ["mac-01.dc1.example.com"])
        self.assertEqual(line["address"], "10.1.0.12")

    def test_a_strangers_name_is_not_allowed(self):
        self.assert_refused(self.ask(self.stranger), 403, "NameNotAllowed")

    def test_a_machine_of_another_network_is_not_looked_up(self):
        seen = len(self.dns.output)
        self.assert_refused(self.ask(self.elsewhere), 403, "AddressNotAllowed")
        self.ask(self.good)
        self.dns.wait_for("11.0.1.10.in-addr.arpa", seen)
        self.assertNotIn("14.0.2.10", self.dns.output[seen:])

    def test_machines_without_a_name_or_with_one_that_is_nowhere_are_refused(self):
        self.assert_refused(self.ask(self.nameless), 403, "NoReverseName")
        self.assert_refused(self.ask(self.nowhere), 403, "NameNotConfirmed")

    def test_a_forged_header_helps_nobody(self):
        for header in ("X-Forwarded-For: 10.1.0.11", "x-forwarded-for: fd00:1::11", "X-Real-IP: 10.1.0.11",
                       "Forwarded: for=10.1.0.11"):
            self.assert_refused(self.ask(self.spoofer, "-H", header), 403, "NameNotConfirmed")

    def test_behind_a_proxy_only_the_proxys_own_word_counts(self):
        self.restart(proxies=["10.1.0.19"])
        forged = self.ask(self.spoofer, "-H", "X-Forwarded-For: 10.1.0.11")
        self.assert_refused(forged, 403, "NameNotConfirmed")
        passed_on = self.ask(self.proxy, "-H", "X-Forwarded-For: 10.1.0.11, 10.1.0.12")
        self.assert_refused(passed_on, 403, "NameNotConfirmed")
        twice = self.ask(self.proxy, "-H", "X-Forwarded-For: 10.1.0.11", "-H", "X-Forwarded-For: 10.1.0.12")
        self.assert_refused(twice, 403, "NameNotConfirmed")
        self.assert_refused(self.ask(self.proxy), 403, "SenderUnclear")
        self.assertEqual(self.ask(self.proxy, "-H", "X-Forwarded-For: 10.1.0.11")[0], 200)
        self.assertEqual(self.host.bodies[-1]["hostName"], "mac-01.dc1.example.com")

    def test_a_machine_that_asks_too_often_waits_and_keeps_no_other_waiting(self):
        self.restart(burst=2)
        for _ in range(2):
            self.assert_refused(self.ask(self.spoofer), 403, "NameNotConfirmed")
        answer = self.ask(self.spoofer, "-H", "X-Forwarded-For: 10.1.0.77")
        self.assertEqual(self.assert_refused(answer, 429, "TooManyRequests")["reason"], "rateLimited")
        self.assertGreater(int(answer[1]["retry-after"]), 0)
        self.assertEqual(self.ask(self.good)[0], 200)

    def test_a_server_that_fails_is_no_reason_to_believe(self):
        answer = self.ask(self.broken)
        line = self.assert_refused(answer, 503, "DnsFailed")
        self.assertIn("serverFailure", answer[2]["message"])
        self.assertGreater(int(answer[1]["retry-after"]), 0)
        self.assertIn("mac-16.broken.example.com", line["why"])

    def test_a_server_that_is_silent_is_waited_for_no_longer_than_it_may(self):
        self.dns.send(signal.SIGSTOP)
        answer = self.ask(self.good)
        self.assertIn("timedOut", self.assert_refused(answer, 503, "DnsFailed")["why"])
        self.assertGreater(int(answer[1]["retry-after"]), 0)
        self.dns.send(signal.SIGCONT)
        self.assertEqual(self.ask(self.good)[0], 200)  # failures are not remembered

    def test_a_server_that_is_gone_is_told(self):
        self.dns.end(signal.SIGKILL)
        self.assert_refused(self.ask(self.good), 503, "DnsFailed")
        status, _, text = world.curl(world.run, "-k", "https://127.0.0.1:8650/readyz")
        self.assertEqual(status, 503, text)
        self.assertEqual(world.curl(world.run, "-k", "https://127.0.0.1:8650/healthz")[0], 200)

    def test_what_is_known_outlives_a_server_for_its_time(self):
        self.assertEqual(self.ask(self.good)[0], 200)
        self.dns.end(signal.SIGKILL)
        self.assertEqual(self.ask(self.good)[0], 200)
        self.assertTrue(read_json_lines(self.audit)[-1]["cached"])
        seen = len(self.relay.output)
        self.relay.send(signal.SIGHUP)
        self.relay.wait_for("is asked anew", seen)
        self.host.bodies.clear()
        self.assert_refused(self.ask(self.good), 503, "DnsFailed")

    def test_credentials_of_the_relay_that_have_expired_are_good_for_nothing(self):
        self.host.expired = True
        answer = self.ask(self.good)
        self.assertEqual((answer[0], answer[2]["code"]), (503, "RelayNotAccepted"), answer)
        line = read_json_lines(self.audit)[-1]
        self.assertEqual((line["reason"], line["hostStatus"]), ("relayRefused", 401))
        self.assertIn("expired", line["why"])

    def test_the_right_machine_gets_its_credentials_by_both_addresses(self):
        for at in RELAY:
            answer = self.ask(self.good, at=at)
            self.assertEqual(answer[0], 200, answer)
            self.assertEqual(answer[2]["credentials"]["accessToken"], "secret-of-mac-01.dc1.example.com")
        self.assertEqual([(b["hostName"], b["address"], b["providerId"]) for b in self.host.bodies],
                         [("mac-01.dc1.example.com", "10.1.0.11", "dc1"),
                          ("mac-01.dc1.example.com", "fd00:1::11", "dc1")])
        lines = read_json_lines(self.audit)
        self.assertEqual([line["decision"] for line in lines], ["accepted", "accepted"])

    def test_of_several_names_the_one_that_leads_back_counts_through_an_alias(self):
        answer = self.ask(self.many)
        self.assertEqual(answer[0], 200, answer)
        self.assertEqual(self.host.bodies[0]["hostName"], "mac-15.dc1.example.com")
        self.assertEqual(read_json_lines(self.audit)[-1]["names"],
                         ["mac-02.dc1.example.com", "mac-15.dc1.example.com", "zzz.stranger.example"])

    def test_machines_trust_nobody_else_in_the_relays_place(self):
        make_certificate(self.folder, "other", *RELAY)
        status, _, why = self.good.curl("--cacert", f"{self.folder}/other.pem", "-X", "POST",
                                        f"https://{RELAY[0]}:8650{REGISTER}")
        self.assertEqual(status, 0)
        self.assertIn("certificate", why)

    def test_a_renewed_certificate_is_read_at_sighup(self):
        make_certificate(self.folder, "relay", *RELAY)
        self.assertEqual(self.ask(self.good)[0], 0)
        seen = len(self.relay.output)
        self.relay.send(signal.SIGHUP)
        self.relay.wait_for("were read again", seen)
        self.assertEqual(self.ask(self.good)[0], 200)

    def test_operators_see_numbers_and_machines_do_not(self):
        self.ask(self.spoofer)
        self.ask(self.good)
        url = f"https://{RELAY[0]}:8650"
        trust = ["--cacert", f"{self.folder}/relay.pem"]
        self.assertEqual(self.good.curl(*trust, f"{url}/metrics")[0], 404)
        self.assertEqual(self.good.curl(*trust, f"{url}/readyz")[0], 404)
        self.assertEqual(self.good.curl(*trust, f"{url}/healthz")[0], 200)
        status, _, text = world.curl(world.run, "-k", "https://127.0.0.1:8650/metrics")
        self.assertEqual(status, 200)
        self.assertIn('muster_relay_answers_total{outcome="registered"} 1\n', text)
        self.assertIn('muster_relay_answers_total{outcome="nameNotConfirmed"} 1\n', text)
        self.assertIn('muster_relay_dns_questions_total{direction="reverse",result="answered"} 2\n', text)
        self.assertEqual(world.curl(world.run, "-k", "https://127.0.0.1:8650/readyz")[0], 200)

    def test_it_leaves_no_core(self):
        with open(f"/proc/{self.relay.process.pid}/limits") as file:
            line = next(line for line in file if line.startswith("Max core file size"))
        self.assertEqual(line.split()[4:6], ["0", "0"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAMS = os.path.abspath(sys.argv[1])
    world.enter_own_network([os.path.abspath(__file__), *sys.argv[1:]])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
