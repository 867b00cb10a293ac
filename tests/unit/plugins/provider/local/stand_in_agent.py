#!/usr/bin/env python3
"""Enough of an agent to test the provider with: it keeps to what the provider relies on (the lock, worker.pid,
signals) and registers with nobody. What the images' commands say decides how it behaves."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import time


def main():
    if sys.argv[1:3] != ["--detach", "--config"]:
        sys.exit(2)
    with open(sys.argv[3]) as file:
        config = json.load(file)
    command = config["worker"]["command"]
    if "refuse" in command:
        print("the configuration says that it is wrong")
        sys.exit(3)
    if "hang" in command:
        time.sleep(1000)
    if "lie" in command:
        sys.exit(0)
    reading, writing = os.pipe()
    if os.fork() != 0:
        os.close(writing)
        sys.exit(0 if os.read(reading, 1) else 1)
    os.setsid()
    stubborn = "stubborn" in command
    told = []
    signal.signal(signal.SIGTERM, signal.SIG_IGN if stubborn else lambda *_: told.append(1))
    folder = config["folder"]
    lock = os.open(folder + "/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(lock, str(os.getpid()).encode() + b"\n")
    environment = dict(os.environ, **config["worker"]["environment"])
    if "anonymous" in command:
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    worker = subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & sleep 1000"], process_group=0, env=environment)
    with open(folder + "/worker.pid", "w") as file:
        file.write(str(worker.pid))
    os.write(writing, b"+")
    os.close(writing)
    while not told and "short" not in command:
        time.sleep(0.005)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


main()
