#!/usr/bin/env python3
"""Runs the commands of the README and of the pages in docs/, so that none of them becomes false.

usage: run_pages.py [--all-wrong] BUILD-FOLDER SOURCE-FOLDER PAGE...

Every fence of a page has a language. What each means here:

  sh            the block is run by bash, in the page's one session, and must end with 0
  sh skip: WHY  it is not run, because it needs what a test cannot have; WHY says what
  console       each line "$ command" is run; the lines below it are the beginning of what it prints. "..." in a line
                stands for any text, a line "..." for any lines, and numbers may differ
  LANGUAGE KIND the block is what KIND says, such as "toml host", and programs/check-block finds nothing wrong with it
  toml, json    the block can be parsed
  text, others  prose, pictures, and code that other tests have

A page whose console fences another test compares exactly is not given to this one. A session has an empty home, a copy of the clone
in which `./dev run` starts the build's own host on a free port, and what <page>.sh beside this file prepares. A line
"A<tab>B" in ~/replacements makes B of A in what follows: the port of that host, or an identifier. Absolute paths such as
/etc/muster are below ~/root. `sleep` takes a tenth of its time, and commands that watch or follow get two seconds.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
FENCE = re.compile(r"^```(\S*) ?(.*)$")
FOREIGN_PATH = re.compile(r"(?<![\w/.~$}-])/(?=(?:etc|srv|run|var/lib|usr/lib/builders|usr/lib/muster|usr/share/doc)/)")
BLOCK_SECONDS = 60


def blocks_of(page):
    """[(line, language, rest of the fence, text)]; a list of mistakes."""
    blocks, mistakes, begun, lines = [], [], None, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if begun is None and fence:
            begun, lines = (number, fence[1], fence[2]), []
            if not fence[1]:
                mistakes.append(f"{page.name}:{number}: the fence has no language; say sh, console or text")
            if fence[1] == "sh" and fence[2] and not re.match(r"skip: .{12}", fence[2]):
                mistakes.append(f"{page.name}:{number}: say why the block is skipped: sh skip: WHY")
        elif begun is not None and line == "```":
            blocks.append((*begun, "\n".join(lines)))
            begun = None
        elif begun is not None:
            lines.append(line)
    return blocks, mistakes


def pattern_of(line):
    """A regular expression for one line of output: "..." is any text, a number any number."""
    parts = [re.sub(r"\d+(\\\.\d+)?", r"[0-9]+(?:[.][0-9]+)?", re.escape(part)) for part in line.rstrip().split("...")]
    return ".*".join(parts) + r"\s*"


def matches(expected, printed):
    """Whether `printed` begins with `expected`; a line "..." stands for any number of lines."""
    regex = ""
    for line in expected:
        regex += r"(?:.*\n)*?" if line == "..." else pattern_of(line) + r"\n"
    return re.match(regex, printed.rstrip("\n") + "\n") is not None


class Session:
    """One bash for a page. Each script is sourced there, so that variables, functions and the folder stay."""

    def __init__(self, build, source, home):
        self.home = home
        clone = home / "muster"
        clone.mkdir()
        for name in ("configs", "docs", "plugin-api", "agent", "LICENSE"):
            (clone / name).symlink_to(source / name)
        shutil.copy(HERE / "dev", clone / "dev")
        # As a build, but what is in programs/ comes first.
        release = clone / "build" / "release"
        programs = release / "bin"
        programs.mkdir(parents=True)
        for program in (HERE / "programs").iterdir():
            shutil.copy(program, programs / program.name)
        for entry in [*build.iterdir(), *(build / "bin").iterdir()]:
            place = (release if entry.parent == build else programs) / entry.name
            if not place.exists():
                place.symlink_to(entry)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("MUSTER", "TASKCLUSTER", "XDG", "GIT"))}
        environment.update(HOME=str(home), LC_ALL="C.UTF-8", DOCS_BUILD=str(build), DOCS_SOURCE=str(source),
                           PATH=f"{programs}:{environment['PATH']}")
        self.bash = subprocess.Popen(["bash", "--norc"], cwd=clone, env=environment, stdin=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
                                     start_new_session=True)

    def replaced(self, text):
        """What the page's words mean here."""
        text = FOREIGN_PATH.sub(f"{self.home}/root/", text)
        replacements = self.home / "replacements"
        for line in replacements.read_text().splitlines() if replacements.exists() else []:
            text = text.replace(*line.split("\t"))
        return text

    def check(self, language, kind, text):
        """What is wrong with a block that is not run; empty: nothing."""
        text = self.replaced(text)
        try:
            if kind:
                file = self.home / f"block.{language}"
                file.write_text(text + "\n")
                status, printed = self.run(f'check-block {kind} "{file}"')
                return "" if status == 0 else printed
            if language == "toml":
                tomllib.loads(text)
            if language == "json":
                json.loads(text)
        except ValueError as error:
            return str(error)
        return ""

    def run(self, script):
        """(status, output); status None: it took too long."""
        text, output, status = self.home / "script", self.home / "output", self.home / "status"
        text.write_text(script + "\n")
        if status.exists():
            status.unlink()
        os.mkfifo(status)
        self.bash.stdin.write(f'. "{text}" >"{output}" 2>&1 </dev/null; status=$?; trap - ERR; set +E; echo $status >"{status}"\n')
        self.bash.stdin.flush()
        try:
            answer = subprocess.run(["cat", status], capture_output=True, text=True, timeout=BLOCK_SECONDS)
            return int(answer.stdout), output.read_text(errors="replace")
        except subprocess.TimeoutExpired:
            return None, output.read_text(errors="replace")
        finally:
            status.unlink()

    def end(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, number)
                self.bash.wait(timeout=20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        # Local workers outlive their host.
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                folder, words = os.readlink(process / "cwd"), (process / "cmdline").read_text()
                if f"{folder}/".startswith(f"{self.home}/") or f"{self.home}/" in words:
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended, or is somebody else's


def console_commands(text):
    """[(command, expected lines)] of a console fence."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
    return commands


def run_page(session, page, blocks):
    failures, ran = [], 0
    for line, language, rest, text in blocks:
        if language == "sh" and not rest.startswith("skip:"):
            # A block stops at the first command that fails, as a reader would.
            steps = [("set -e\n" + text + "\nset +e", [])] if "\nwait\n" not in text + "\n" else [(text, [])]
        elif language == "console":
            steps = console_commands(text)
        elif language == "sh":
            continue
        else:
            wrong = session.check(language, rest, text)
            ran += 1
            if wrong:
                failures.append(f"{page.name}:{line}: {language} {rest}\n{wrong}")
            continue
        for script, expected in steps:
            status, printed = session.run(session.replaced(subshell_safe(script)))
            ran += 1
            if status is None:
                failures.append(f"{page.name}:{line}: took more than {BLOCK_SECONDS} s\n{script}\n{printed[-2000:]}")
                return ran, failures
            if (language == "sh" and status != 0) or not matches(session.replaced("\n".join(expected)).splitlines(), printed):
                failures.append(f"{page.name}:{line}: exit code {status}\n{script}\n--- it printed\n{printed[-3000:]}\n"
                                + ("--- expected\n" + "\n".join(expected) if expected else ""))
    return ran, failures


def subshell_safe(script):
    """`set -e` would end the session: trap the failure and return, also from functions, instead."""
    return script.replace("set -e\n", "trap 'return $?' ERR\nset -E\n").replace("\nset +e", "")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no host is left behind
    all_wrong = sys.argv[1] == "--all-wrong"  # a test of this program: every block must be refused
    build, source, *pages = [pathlib.Path(argument) for argument in sys.argv[1 + all_wrong:]]
    build, source = build.resolve(), source.resolve()
    failures, ran, total = [], 0, 0
    for name in pages:
        page = source / name
        blocks, mistakes = blocks_of(page)
        failures += mistakes
        total += len(blocks)
        home = pathlib.Path(tempfile.mkdtemp(prefix="muster-docs-"))
        home.chmod(0o755)
        session = Session(build, source, home)
        try:
            prepare = HERE / (page.stem + ".sh")
            if prepare.exists():
                status, printed = session.run(subshell_safe("set -e\n" + prepare.read_text() + "\nset +e"))
                if status != 0:
                    failures.append(f"{prepare.name}: exit code {status}\n{printed[-3000:]}")
                    continue
            count, wrong = run_page(session, page, blocks)
            ran += count
            failures += wrong
        finally:
            session.end()
            shutil.rmtree(home, ignore_errors=True)
    print("\n\n".join(failures))
    print(f"{ran} commands and blocks, {len(failures)} failed")
    if all_wrong:
        return 0 if len(failures) == total else 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
