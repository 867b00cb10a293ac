#!/usr/bin/env python3
"""What hosts that follow do: real hosts on a real PostgreSQL.

usage: followers_test.py <folder with musterd> <folder with plugins> [unittest's arguments]"""

import json
import socket
import sys
import threading
import unittest
import urllib.error
import urllib.request

import world
from world import World, eventually

PROGRAMS, PLUGINS = sys.argv[1:3]


def exchange(host, method, path, headers=None, body=None):
    """Status, headers and document, with the headers that are asked for."""
    request = urllib.request.Request(host.url + path, method=method, data=body,
                                     headers={"Authorization": "Bearer " + world.TOKEN, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def raw_status(host, target):
    """Of a GET whose target is sent as it is."""
    with socket.create_connection(("127.0.0.1", host.port)) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.TOKEN}\r\n"
                           "Connection: close\r\n\r\n".encode())
        return int(connection.makefile("rb").readline().split()[1])


class Followers(unittest.TestCase):
    def make(self, **how):
        made = World(PROGRAMS, PLUGINS, **how)
        self.addCleanup(made.close)
        return made

    def test_a_host_with_another_key_never_leads_and_says_why(self):
        made = self.make()
        first, other = made.hosts
        other.write_key(b"quite another key, of 32 bytes!!")
        first.start()
        eventually(lambda: first.role() == "leading")
        other.start()
        eventually(lambda: other.role() == "following")
        eventually(lambda: any("another secrets.key" in host.get("problem", "")
                               for host in first.ask("GET", "/api/muster/v1/hosts")[1]["hosts"]))
        first.kill()
        eventually(lambda: "this one cannot" in other.log())
        self.assertEqual(other.role(), "neither")
        first.start()
        eventually(lambda: first.role() == "leading")

    def test_two_hosts_of_one_name_are_noticed(self):
        made = self.make()
        first, second = made.hosts
        with open(second.configuration, encoding="utf-8") as file:
            text = file.read()
        with open(second.configuration, "w", encoding="utf-8") as file:
            file.write(text.replace('name = "host-1"', 'name = "host-0"'))
        first.start()
        eventually(lambda: first.role() == "leading")
        second.start()
        eventually(lambda: "another host is called host-0" in second.log())
        self.assertEqual(second.role(), "neither")

    def test_a_takeover_goes_on_from_the_copy_of_the_state(self):
        made = self.make()
        made.start()
        leader, follower = made.leader(), made.follower()
        eventually(lambda: len(made.lab.machines) == 3)

        def lag():
            hosts = leader.ask("GET", "/api/muster/v1/hosts")[1]["hosts"]
            return next(host.get("lagSeconds") for host in hosts if host["name"] == follower.name)
        eventually(lambda: lag() is not None and lag() < 5)
        for number in range(50):
            self.assertEqual(follower.ask("PUT", f"/api/muster/v1/teams/team-{number}", {"weight": 3})[0], 200)

        def teams(host):
            return sorted(host.ask("GET", "/api/muster/v1/teams")[1]["teams"], key=lambda team: team["team"])
        before = teams(leader)
        leader.kill()
        eventually(lambda: follower.role() == "leading")
        self.assertRegex(follower.log(), "the fleet is loaded.*the copy")
        self.assertEqual(teams(follower), before)
        taken = {worker["workerId"] for worker in follower.ask("GET", "/api/muster/v1/workers")[1]["workers"]}
        self.assertEqual(taken, {machine["workerId"] for machine in made.lab.machines.values()})
        self.assertEqual(len(made.lab.machines), 3)

    def test_streams_do_not_keep_other_requests_from_the_leader(self):
        made = self.make()
        made.start()
        follower = made.follower()
        streams = []
        self.addCleanup(lambda: [one.close() for one in streams])
        for _ in range(300):
            one = socket.create_connection(("127.0.0.1", follower.port))
            one.sendall(f"GET /api/muster/v1/events?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.TOKEN}\r\n\r\n"
                        .encode())
            streams.append(one)
        self.assertEqual(follower.ask("PUT", "/api/muster/v1/teams/a", {"weight": 2}, timeout=20)[0], 200)
        answers = [one.makefile("rb").readline() for one in streams]
        self.assertEqual({line.split()[1] for line in answers}, {b"200", b"503"})
        self.assertEqual(follower.ask("PUT", "/api/muster/v1/teams/b", {"weight": 2}, timeout=20)[0], 200)

    def test_a_target_that_cannot_be_handed_on_is_refused_at_once(self):
        made = self.make()
        made.start()
        follower = made.follower()
        for target in ("/api/muster/v1/teams#part", "/api/muster/v1/events?limit=1&kind=#", '/api/muster/v1/events?limit="1"'):
            self.assertEqual(raw_status(follower, target), 400, target)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, warnings="ignore")
