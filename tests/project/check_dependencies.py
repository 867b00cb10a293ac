#!/usr/bin/env python3
"""Compares the table of allowed dependencies between folders with the #include lines and with what CMake links.

usage: check_dependencies.py [--root FOLDER] [--table FILE] [--print]

Prints each violation and exits with 1 if there is one. --print writes the table as the includes of now would have it:
what to copy from after a folder was moved or made.

A line of the table is `folder: folders that it may include`. `folder` means the files directly in it; `folder/` means
all files below it, too. Everything after # is a comment. The table fails if
  - a file includes a folder that its folder's line does not name,
  - the lines make a cycle,
  - a folder with C++ files has no line,
  - a line or one of its entries is not used by any file,
  - a folder's files are in no CMake target,
  - a file includes a folder whose target its own target does not link (directly, or through a PUBLIC link).
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from cmake_targets import Targets  # noqa: E402

TOP_FOLDERS = ("plugin-api", "rules", "lib", "host", "plugins", "cli", "relay", "agent")
CPP = re.compile(r"\.(cpp|hpp|h|c)(\.in)?$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<(muster/[^>]+)>)', re.M)
# Where `#include <muster/...>` looks.
INCLUDE_FOLDERS = ("rules/include", "plugin-api/include")


def tracked_files(root):
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True, check=True)
    return sorted(name for name in set(listed.stdout.split("\n")) if name and os.path.isfile(os.path.join(root, name)))


class Table:
    def __init__(self, text, name):
        self.allowed = {}
        self.lines = {}
        self.deep = set()
        self.problems = []
        self.name = name
        for number, line in enumerate(text.split("\n"), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            folder, colon, entries = line.partition(":")
            key = folder.strip().rstrip("/")
            if not colon or key in self.allowed:
                self.problems.append(f"{name}:{number}: " + (
                    f"{key} has two lines" if colon else f'no colon in "{line}"; write "folder: folders it may include"'))
                continue
            if folder.strip().endswith("/"):
                self.deep.add(key)
            self.lines[key] = number
            self.allowed[key] = entries.split()

    def folder_of(self, path):
        """The folder whose line is about this file, or None."""
        folder = os.path.dirname(path)
        if folder in self.allowed:
            return folder
        while folder:
            folder = os.path.dirname(folder)
            if folder in self.deep:
                return folder
        return None

    def cycles(self):
        """Each cycle once, as the list of its folders."""
        found, state, path = [], {}, []

        def visit(folder):
            state[folder] = "open"
            path.append(folder)
            for entry in self.allowed.get(folder, []):
                if state.get(entry) == "open":
                    found.append(path[path.index(entry):] + [entry])
                elif entry not in state:
                    visit(entry)
            path.pop()
            state[folder] = "done"

        for folder in self.allowed:
            if folder not in state:
                visit(folder)
        return found


class Include:
    def __init__(self, path, line, written, target):
        self.path = path        # the file that includes
        self.line = line
        self.written = written  # as the file spells it
        self.target = target    # the included file, from the root


def read_includes(root, files):
    known = set(files)
    for path in files:
        if not CPP.search(path):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for match in INCLUDE.finditer(text):
            written = match.group(1) or match.group(2)
            if match.group(1):
                candidates = [os.path.join(os.path.dirname(path), written), written]
            else:
                candidates = [os.path.join(folder, written) for folder in INCLUDE_FOLDERS]
            for candidate in map(os.path.normpath, candidates):
                if candidate in known:
                    yield Include(path, text.count("\n", 0, match.start()) + 1, written, candidate)
                    break


class Owners:
    """Which targets compile a file or, for a header, the file beside it with the same name."""

    def __init__(self, table, targets):
        self.table = table
        self.by_stem = {}
        self.by_folder = {}
        for target in targets.by_name.values():
            if target.header_folder:
                self.by_folder.setdefault(target.header_folder, set()).add(target.name)
            for source in target.sources:
                folder = table.folder_of(source)
                if folder:
                    stem = os.path.basename(source).split(".")[0]
                    self.by_stem.setdefault((folder, stem), set()).add(target.name)
                    self.by_folder.setdefault(folder, set()).add(target.name)

    def of(self, path):
        folder = self.table.folder_of(path)
        stem = os.path.basename(path).split(".")[0]
        return self.by_stem.get((folder, stem)) or self.by_folder.get(folder, set())


def check_includes(table, includes, problems):
    used = {}
    for include in includes:
        source, target = table.folder_of(include.path), table.folder_of(include.target)
        if source is not None and target is not None and source != target:
            used.setdefault((source, target), []).append(include)
    for (source, target), sites in sorted(used.items()):
        if target not in table.allowed[source]:
            more = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
            problems.append(f'{sites[0].path}:{sites[0].line}: {source} may not include {target} ("{sites[0].written}"{more}); '
                            f"{table.name}:{table.lines[source]} allows {' '.join(table.allowed[source]) or 'nothing'}")
    return set(used)


def check_table(table, files, used, problems):
    problems.extend(table.problems)
    for cycle in table.cycles():
        problems.append(f"{table.name}:{table.lines[cycle[0]]}: a cycle: {' -> '.join(cycle)}")
    missing = {os.path.dirname(path) for path in files if table.folder_of(path) is None}
    for folder in sorted(missing):
        problems.append(f"{table.name}: no line for {folder}")
    with_files = {table.folder_of(path) for path in files}
    for folder, entries in table.allowed.items():
        place = f"{table.name}:{table.lines[folder]}"
        if folder not in with_files:
            problems.append(f"{place}: {folder} has no C++ file; remove the line")
            continue
        for entry in entries:
            if entry not in table.allowed:
                problems.append(f"{place}: {folder} may include {entry}, which has no line of its own")
            elif (folder, entry) not in used:
                problems.append(f"{place}: nothing in {folder} includes {entry}; remove it from the line")


def check_links(table, targets, files, includes, problems):
    owners = Owners(table, targets)
    visible = {target.name: targets.visible_from(target) for target in targets.by_name.values()}
    for folder in sorted({table.folder_of(path) for path in files} - {None}):
        if folder not in owners.by_folder:
            problems.append(f"{folder}: no CMake target compiles its files")
    reported = set()
    for include in includes:
        source, target = table.folder_of(include.path), table.folder_of(include.target)
        if source is None or target is None or source == target:
            continue
        # A header without a source of its name may be used by any target of its folder; one that links is enough.
        having, wanted = owners.of(include.path), owners.of(include.target)
        if not having or not wanted or any(wanted & visible[name] for name in having):
            continue
        key = (source, target, tuple(sorted(having)))
        if key not in reported:
            reported.add(key)
            problems.append(f'{include.path}:{include.line}: "{include.written}" belongs to {" or ".join(sorted(wanted))}, '
                            f"which {' and '.join(sorted(having))} does not link")


def print_table(table, files, used):
    folders = {table.folder_of(path) or os.path.dirname(path) for path in files}
    for folder in sorted(folders):
        entries = sorted(entry for source, entry in used if source == folder)
        print(f"{folder}{'/' if folder in table.deep else ''}: {' '.join(entries)}".rstrip())


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=os.path.join(here, "../.."))
    parser.add_argument("--table")
    parser.add_argument("--print", action="store_true", dest="show")
    options = parser.parse_args()
    name = options.table or os.path.join(options.root, "tests/project/dependencies.txt")
    with open(name, encoding="utf-8") as file:
        table = Table(file.read(), os.path.relpath(name, options.root))

    all_files = tracked_files(options.root)
    files = [path for path in all_files if CPP.search(path) and path.split("/")[0] in TOP_FOLDERS]
    includes = list(read_includes(options.root, files))
    targets = Targets(options.root)
    for path in all_files:
        if os.path.basename(path) == "CMakeLists.txt" and path.split("/")[0] in TOP_FOLDERS:
            targets.read(path)

    problems = []
    if options.show:
        # A folder without a line stands for itself here.
        for path in files:
            if table.folder_of(path) is None:
                table.allowed[os.path.dirname(path)], table.lines[os.path.dirname(path)] = [], 0
        print_table(table, files, check_includes(table, includes, []))
        return 0
    used = check_includes(table, includes, problems)
    check_table(table, files, used, problems)
    check_links(table, targets, files, includes, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
