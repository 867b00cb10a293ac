#!/usr/bin/env python3
"""Finds files that use a name of the standard library without a header for it.

usage: check_includes.py [--root FOLDER] [file...]

The builds for tests read the most common headers precompiled, and so a file that forgets one of them compiles there and
nowhere else. This check reads text only: a file is fine if it, or a file of ours that it includes, has the header of each
name that it uses. The compiler's own word on changed files is `./dev lint --changed`.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
from check_dependencies import CPP, read_includes, tracked_files  # noqa: E402

# Header -> the names that only it is for. Names that several headers bring are not here.
NAMES = {
    "algorithm": "all_of any_of none_of sort stable_sort find_if find_if_not count_if copy_if transform remove_if "
                 "max_element min_element minmax_element lower_bound upper_bound equal_range partial_sort nth_element "
                 "set_difference set_intersection set_union binary_search reverse rotate unique clamp is_sorted includes "
                 "push_heap pop_heap make_heap partition stable_partition partition_point replace_if "
                 r"ranges::\w+",
    "atomic": "atomic atomic_flag atomic_bool",
    "charconv": "from_chars to_chars",
    "chrono": r"chrono::\w+ chrono_literals",
    "condition_variable": "condition_variable condition_variable_any",
    "deque": "deque",
    "filesystem": r"filesystem::\w+",
    "fstream": "ifstream ofstream fstream",
    "functional": "function reference_wrapper not_fn bind_front",
    "iostream": "cout cerr cin clog",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock scoped_lock recursive_mutex once_flag call_once",
    "numeric": "accumulate iota gcd lcm partial_sum reduce",
    "optional": "optional nullopt nullopt_t make_optional",
    "random": "mt19937 mt19937_64 uniform_int_distribution uniform_real_distribution random_device",
    "set": "set multiset",
    "shared_mutex": "shared_mutex shared_lock",
    "span": "span",
    "sstream": "ostringstream istringstream stringstream",
    "thread": "thread jthread this_thread::\\w+",
    "tuple": "tuple tie forward_as_tuple",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "variant": "variant visit holds_alternative monostate get_if",
    "vector": "vector",
}
# A header that brings all of another one, by the standard or because it cannot do without.
BRINGS = {
    "functional": {"tuple"},
    "map": {"tuple"},
    "thread": {"chrono"},
    "condition_variable": {"mutex", "chrono"},
    "mutex": {"chrono"},
    "shared_mutex": {"chrono"},
    "string": set(),
    "boost/json.hpp": {"memory", "string", "algorithm", "functional"},
    "gmock/gmock.h": {"algorithm", "functional", "map", "memory", "set", "sstream", "string", "tuple", "vector"},
    "gtest/gtest.h": {"functional", "map", "memory", "set", "sstream", "string", "tuple", "vector", "iostream", "atomic"},
    "CLI/CLI.hpp": {"algorithm", "functional", "map", "memory", "set", "sstream", "string", "tuple", "vector", "iostream",
                    "fstream", "optional", "numeric", "filesystem"},
    "toml++/toml.h": {"memory", "optional", "vector", "map", "string", "fstream", "sstream"},
}
ANGLE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
USES = [(header, re.compile(r"\bstd::(?:" + "|".join(names.split()) + r")\b"))
        for header, names in NAMES.items()]


class Includes:
    def __init__(self, root, files):
        self.root = root
        self.files = [path for path in files if CPP.search(path)]
        self.ours = {}
        for include in read_includes(root, files):
            self.ours.setdefault(include.path, set()).add(include.target)
        self.texts, self.reached = {}, {}

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def headers_of(self, path):
        """All standard headers that the file gets through itself and through files of ours."""
        if path not in self.reached:
            seen, waiting, found = {path}, [path], set()
            while waiting:
                current = waiting.pop()
                for header in ANGLE.findall(self.text(current)):
                    found.add(header)
                    found |= BRINGS.get(header, set())
                for target in self.ours.get(current, ()):
                    if target not in seen:
                        seen.add(target)
                        waiting.append(target)
            self.reached[path] = found
        return self.reached[path]

    def missing(self, path):
        code = COMMENT.sub(lambda match: "\n" * match.group(0).count("\n") or '""', self.text(path))
        have = self.headers_of(path)
        for header, uses in USES:
            if header not in have and (match := uses.search(code)):
                yield code.count("\n", 0, match.start()) + 1, match.group(0), header


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    includes = Includes(options.root, tracked_files(options.root))
    failed = False
    for path in options.files or includes.files:
        for line, name, header in includes.missing(path):
            print(f"{path}:{line}: {name} needs #include <{header}>", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
