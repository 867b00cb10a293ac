#!/usr/bin/env python3
"""Several real hosts on a real PostgreSQL, and what may happen to them.

usage: hosts_test.py <folder with musterd> <folder with plugins> <library full_disk> [unittest's arguments]

MUSTER_TAKEOVERS is the number of takeovers under load."""

import os
import signal
import subprocess
import sys
import unittest

import world
from world import World, Writer, eventually

PROGRAMS, PLUGINS, FULL_DISK = sys.argv[1:4]
TAKEOVERS = int(os.environ.get("MUSTER_TAKEOVERS", "3"))


class Hosts(unittest.TestCase):
    def make(self, **how):
        made = World(PROGRAMS, PLUGINS, **how)
        self.addCleanup(made.close)
        made.start()
        return made

    def assert_nothing_lost(self, made, acknowledged):
        self.assertGreater(len(acknowledged), 0)
        status, document = made.leader().ask("GET", "/api/muster/v1/teams")
        self.assertEqual(status, 200)
        there = {team["team"] for team in document["teams"]}
        self.assertEqual([team for team in acknowledged if team not in there], [], "an acknowledged change is lost")

    def assert_launched_once(self, made):
        eventually(lambda: len(made.lab.machines) >= 3)
        leader = made.leader()
        eventually(lambda: leader.ask("GET", "/api/muster/v1/status")[1].get("fleet", {}).get("workers") == 3)
        self.assertEqual(len(made.lab.machines), 3, "more machines than the pool may have")
        self.assertEqual(made.lab.stale_calls, [], "a superseded host called the provider")

    def test_one_leads_and_the_other_hands_everything_on(self):
        made = self.make()
        self.assert_launched_once(made)
        follower = made.follower()
        status, document = follower.ask("GET", "/readyz")
        self.assertEqual((status, document["role"], document["leader"]), (200, "following", made.leader().name))
        self.assertEqual(follower.ask("PUT", "/api/muster/v1/teams/a", {"weight": 3})[0], 200)
        self.assertEqual(follower.ask("GET", "/api/muster/v1/teams")[1], made.leader().ask("GET", "/api/muster/v1/teams")[1])
        self.assertEqual(follower.ask("PUT", "/api/muster/v1/teams/b", {"weight": "x"})[0], 400)
        hosts = follower.ask("GET", "/api/muster/v1/hosts")[1]["hosts"]
        self.assertEqual(sorted(host["role"] for host in hosts), ["following", "leading"])
        stream = subprocess.run(["curl", "-sN", "-m", "2", "-H", "Authorization: Bearer " + world.TOKEN,
                                 follower.url + "/api/muster/v1/events?after=0"], stdout=subprocess.PIPE, check=False).stdout
        self.assertIn(b"retry: 2000", stream)
        self.assertIn(b"event:", stream)
        wrong = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer no",
                                follower.url + "/api/muster/v1/teams"], stdout=subprocess.PIPE, check=False).stdout
        self.assertEqual(wrong, b"401")

    def test_takeovers_under_load_lose_nothing_and_launch_nothing_twice(self):
        made = self.make(hosts=3)
        writer = Writer(made.hosts)
        eventually(lambda: len(writer.acknowledged) > 3)
        for number in range(TAKEOVERS):
            leader = made.leader()
            how = ("kill", "stop", "hand-over")[number % 3]
            before = len(writer.acknowledged)
            if how == "kill":
                leader.kill()
            elif how == "stop":
                leader.signal(signal.SIGSTOP)
            else:
                self.assertEqual(leader.ask("POST", "/api/muster/v1/hosts/hand-over", {})[0], 200)
            eventually(lambda: any(h is not leader and h.role() == "leading" for h in made.hosts))
            eventually(lambda: len(writer.acknowledged) > before + 3)
            if how == "kill":
                leader.start()
            elif how == "stop":
                leader.signal(signal.SIGCONT)
            eventually(lambda: leader.role() in ("following", "leading"))
        self.assert_nothing_lost(made, writer.stop())
        self.assert_launched_once(made)

    def test_a_leader_that_is_stopped_for_longer_than_its_lease_acts_no_more(self):
        made = self.make()
        self.assert_launched_once(made)
        old = made.leader()
        old.signal(signal.SIGSTOP)
        new = made.leader(but=old)
        old.signal(signal.SIGCONT)
        eventually(lambda: old.role() == "following")
        self.assertIn("this host leads no more", old.log())
        self.assertEqual(new.role(), "leading")
        self.assert_launched_once(made)

    def test_a_leader_that_is_cut_off_from_the_database_stops_and_another_leads(self):
        made = self.make(through_proxies=True)
        writer = Writer(made.hosts)
        self.assert_launched_once(made)
        old = made.leader()
        made.proxies[made.hosts.index(old)].cut()
        made.leader(but=old)
        eventually(lambda: old.role() == "neither")
        made.proxies[made.hosts.index(old)].reopen()
        eventually(lambda: old.role() == "following")
        self.assert_nothing_lost(made, writer.stop())
        self.assert_launched_once(made)

    def test_a_restart_of_the_database_is_survived(self):
        made = self.make()
        writer = Writer(made.hosts)
        self.assert_launched_once(made)
        made.postgres.kill()
        made.postgres.start()
        before = len(writer.acknowledged)
        eventually(lambda: len(writer.acknowledged) > before + 5)
        self.assert_nothing_lost(made, writer.stop())
        self.assert_launched_once(made)

    def test_a_full_disk_of_the_database_is_named_and_survived(self):
        made = self.make(full_disk=FULL_DISK)
        writer = Writer(made.hosts)
        self.assert_launched_once(made)
        open(made.postgres.no_room, "w", encoding="utf-8").close()
        eventually(lambda: any("make room at the database" in host.log() for host in made.hosts))
        refused = writer.refused
        eventually(lambda: writer.refused > refused)
        os.unlink(made.postgres.no_room)
        before = len(writer.acknowledged)
        eventually(lambda: len(writer.acknowledged) > before + 5)
        self.assert_nothing_lost(made, writer.stop())
        self.assert_launched_once(made)

    def test_a_slow_database_makes_hosts_slow_and_nothing_else(self):
        made = self.make(through_proxies=True, lease="6s")
        for proxy in made.proxies:
            proxy.delay = 0.1  # each way
        writer = Writer(made.hosts)
        self.assert_launched_once(made)
        leader = made.leader()
        eventually(lambda: len(writer.acknowledged) > 5)
        self.assertEqual(leader.role(), "leading")
        self.assert_nothing_lost(made, writer.stop())

    def test_a_promoted_standby_has_every_acknowledged_change(self):
        made = World(PROGRAMS, PLUGINS, postgres_settings="wal_level = replica\nmax_wal_senders = 4")
        self.addCleanup(made.close)
        standby = world.Postgres(made.folder, standby_of=made.postgres, settings="hot_standby = on")
        self.addCleanup(standby.kill)
        made.postgres.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        made.postgres.sql("SELECT pg_reload_conf()")
        for host in made.hosts:
            with open(host.configuration, encoding="utf-8") as file:
                text = file.read()
            both = f"127.0.0.1:{made.postgres.port},127.0.0.1:{standby.port}"
            with open(host.configuration, "w", encoding="utf-8") as file:
                file.write(text.replace(f"127.0.0.1:{made.postgres.port}/", both + "/"))
        made.start()
        writer = Writer(made.hosts)
        self.assert_launched_once(made)
        eventually(lambda: len(writer.acknowledged) > 5)
        made.postgres.kill()
        standby.run("pg_ctl", "promote", "-D", standby.cluster)
        before = len(writer.acknowledged)
        eventually(lambda: len(writer.acknowledged) > before + 3)
        self.assert_nothing_lost(made, writer.stop())
        self.assert_launched_once(made)
        made.postgres.start()  # for the clean-up


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2, warnings="ignore")
