#!/usr/bin/env python3
"""Runs clang-tidy over every file that a build compiles, many files as one unit.

usage: run_clang_tidy.py <build folder> [--jobs N] [--batch N] [--checks LIST] [path prefix...]

Most of what clang-tidy does is to match checks against the headers that a unit includes. So files of neighbouring
folders are read together, which takes a tenth of the time. Files that cannot be compiled together, because they use a
name for different things, are halved until they can. The static analyser (clang-analyzer-*) looks only at the file that a
unit is named after, so it finds nothing here; ./dev lint --changed runs it. Prints findings, each once, and how
far it is; exits with 1 if there is a finding. Writes its units below <build folder>/tidy.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# Checks that take the units for files that people write, and what they declare for all that there is.
NOT_HERE = "-clang-analyzer-*,-bugprone-suspicious-include,-bugprone-forward-declaration-namespace"
FINDING = re.compile(r"^/[^\n]*: (?:warning|error): [^\n]*\n(?:(?!/[^\n]*: (?:warning|error): )[^\n]*\n)*", re.M)


def read_commands(build, prefixes):
    """Yields (file, flags): what a file of this tree is compiled with that matters to its meaning."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    seen = set()
    for entry in commands:
        path = os.path.realpath(entry["file"])
        name = os.path.relpath(path, ROOT)
        if not name.endswith(".cpp") or name.startswith(("..", "build")) or name in seen:
            continue
        if prefixes and not name.startswith(tuple(prefixes)):
            continue
        seen.add(name)
        words = shlex.split(entry["command"])
        flags = [word for word in words if word.startswith(("-D", "-I", "-std="))]
        flags += [part for at, word in enumerate(words) if word == "-isystem" for part in words[at:at + 2]]
        yield name, flags


def fits(flags, more):
    """Whether no macro is defined differently."""
    known = {flag.split("=")[0]: flag for flag in flags if flag.startswith("-D")}
    return all(known.get(flag.split("=")[0], flag) == flag for flag in more if flag.startswith("-D"))


def make_batches(commands, size):
    """Lists of (files, flags), in the order of folders; files of different top folders are never together."""
    open_batches, batches = {}, []
    for name, flags in sorted(commands, key=lambda command: (os.path.dirname(command[0]), command[0])):
        top = name.split("/")[0]
        for batch in open_batches.setdefault(top, []):
            if len(batch[0]) < size and fits(batch[1], flags):
                break
        else:
            batch = ([], [])
            open_batches[top].append(batch)
            batches.append(batch)
        batch[0].append(name)
        at = 0
        while at < len(flags):
            step = 2 if flags[at] == "-isystem" else 1
            if flags[at:at + step] not in [batch[1][i:i + step] for i in range(len(batch[1]))]:
                batch[1].extend(flags[at:at + step])
            at += step
    return batches


class Runner:
    def __init__(self, folder, checks):
        self.folder = folder
        self.checks = ",".join(part for part in (NOT_HERE, checks) if part)
        self.units = 0
        self.found = set()
        os.makedirs(folder, exist_ok=True)

    def run(self, files, flags):
        """The findings in these files."""
        self.units += 1
        unit = os.path.join(self.folder, f"unit_{self.units}.cpp")
        with open(unit, "w", encoding="utf-8") as file:
            file.write("".join(f'#include "{os.path.join(ROOT, name)}"\n' for name in files))
        ran = subprocess.run(["clang-tidy-19", "-quiet", f"--config-file={ROOT}/.clang-tidy", f"--checks={self.checks}", unit,
                              "--", *flags, "-w", "-Wno-error"], capture_output=True, text=True, check=False)
        if "clang-diagnostic-error" in ran.stdout and len(files) > 1:
            half = len(files) // 2
            return self.run(files[:half], flags) + self.run(files[half:], flags)
        findings = [finding.group(0) for finding in FINDING.finditer(ran.stdout)]
        if ran.returncode != 0 and not findings:
            return [ran.stdout + ran.stderr]
        return findings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=60)
    parser.add_argument("--checks", default="")
    parser.add_argument("prefixes", nargs="*")
    options = parser.parse_intermixed_args()
    batches = make_batches(read_commands(options.build, options.prefixes), options.batch)
    runner = Runner(os.path.join(options.build, "tidy"), options.checks)
    done = files = 0
    total = sum(len(batch[0]) for batch in batches)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(runner.run, *batch): batch for batch in batches}
        for future in concurrent.futures.as_completed(running):
            done += 1
            files += len(running[future][0])
            for finding in future.result():
                if finding not in runner.found:
                    runner.found.add(finding)
                    print(finding, end="", flush=True)
            first, last = running[future][0][0], running[future][0][-1]
            print(f"clang-tidy: {files} of {total} files, unit {done} of {len(batches)} ({first} ... {last})",
                  file=sys.stderr, flush=True)
    if runner.found:
        print(f"{len(runner.found)} findings", file=sys.stderr)
    return 1 if runner.found else 0


if __name__ == "__main__":
    sys.exit(main())
