#!/usr/bin/env python3
"""Runs check_dependencies.py over small trees: a good one, and one for each way to be wrong."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_dependencies.py")

TABLE = """
plugin-api/:         # all below it, too
lib/base: plugin-api
host/queue: lib/base plugin-api
host: host/queue
"""

FILES = {
    "plugin-api/CMakeLists.txt": "add_library(api STATIC src/error.cpp)\nadd_library(Api::api ALIAS api)\n",
    "plugin-api/include/muster/error.hpp": "",
    "plugin-api/src/error.cpp": "#include <muster/error.hpp>\n",
    "lib/base/CMakeLists.txt": "muster_add_library(base SOURCES clock.cpp PUBLIC Api::api)\n",
    "lib/base/clock.hpp": "#include <muster/error.hpp>\n",
    "lib/base/clock.cpp": '#include "lib/base/clock.hpp"\n',
    "host/queue/CMakeLists.txt": "# (a comment)\nmuster_add_library(queue SOURCES queue.cpp PUBLIC base)\n",
    "host/queue/queue.hpp": "#include <vector>\n#include <muster/error.hpp>\n",
    "host/queue/queue.cpp": '#include "lib/base/clock.hpp"\n#include "queue.hpp"\n',
    "host/CMakeLists.txt": "add_executable(hostd main.cpp)\ntarget_link_libraries(hostd PRIVATE queue)\n",
    "host/main.cpp": '#include "host/queue/queue.hpp"\n',
    "tests/queue_test.cpp": '#include "host/queue/queue.hpp"\n',
    "tests/project/dependencies.txt": TABLE,
}


class CheckDependencies(unittest.TestCase):
    def run_over(self, changes, *arguments):
        """The exit code and output for the good tree with some files replaced."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**FILES, **changes}.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            subprocess.run(["git", "init", "-q", root], check=True)
            done = subprocess.run([sys.executable, CHECK, "--root", root, *arguments], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout + done.stderr

    def refused(self, changes, sentence):
        code, output = self.run_over(changes)
        self.assertEqual(code, 1, output)
        self.assertIn(sentence, output)
        self.assertEqual(output.count("\n"), 1, output)

    def test_a_tree_that_agrees_with_its_table_is_accepted(self):
        self.assertEqual(self.run_over({}), (0, ""))

    def test_an_include_that_the_table_does_not_allow(self):
        self.refused({"lib/base/CMakeLists.txt": "muster_add_library(base SOURCES clock.cpp PUBLIC Api::api queue)\n",
                      "lib/base/clock.cpp": '\n#include "host/queue/queue.hpp"\n'},
                     'lib/base/clock.cpp:2: lib/base may not include host/queue ("host/queue/queue.hpp")')

    def test_an_include_in_a_file_that_cmake_fills_in(self):
        self.refused({"lib/base/CMakeLists.txt": "muster_add_library(base SOURCES clock.cpp PUBLIC Api::api queue)\n",
                      "lib/base/version.cpp.in": '#include "host/queue/queue.hpp"\n'},
                     "lib/base/version.cpp.in:1: lib/base may not include host/queue")

    def test_a_cycle(self):
        code, output = self.run_over({
            "tests/project/dependencies.txt": TABLE.replace("lib/base: plugin-api", "lib/base: plugin-api host/queue"),
            "lib/base/CMakeLists.txt": "muster_add_library(base SOURCES clock.cpp PUBLIC Api::api queue)\n",
            "lib/base/clock.cpp": '#include "host/queue/queue.hpp"\n'})
        self.assertEqual(code, 1, output)
        self.assertIn("a cycle: lib/base -> host/queue -> lib/base", output)

    def test_a_folder_without_a_line(self):
        self.refused({"host/demand/counts.hpp": ""}, "no line for host/demand")

    def test_a_line_for_one_folder_does_not_speak_for_its_subfolders(self):
        self.refused({"host/queue/fair/share.hpp": ""}, "no line for host/queue/fair")

    def test_a_line_for_a_folder_without_files(self):
        self.refused({"tests/project/dependencies.txt": TABLE + "host/gone: lib/base\n"},
                     "host/gone has no C++ file; remove the line")

    def test_an_entry_that_no_include_uses(self):
        self.refused({"tests/project/dependencies.txt": TABLE.replace("host: host/queue", "host: host/queue lib/base")},
                     "nothing in host includes lib/base")

    def test_an_entry_that_is_no_folder(self):
        self.refused({"tests/project/dependencies.txt": TABLE.replace("host: host/queue", "host: host/queue lib/bsae")},
                     "host may include lib/bsae, which has no line of its own")

    def test_two_lines_for_one_folder(self):
        self.refused({"tests/project/dependencies.txt": TABLE + "lib/base/: plugin-api\n"}, "lib/base has two lines")

    def test_an_include_whose_target_is_not_linked(self):
        self.refused({"host/queue/CMakeLists.txt": "muster_add_library(queue SOURCES queue.cpp PUBLIC Api::api)\n"},
                     'host/queue/queue.cpp:1: "lib/base/clock.hpp" belongs to base, which queue does not link')

    def test_a_private_link_of_another_target_does_not_help(self):
        self.refused({"lib/base/CMakeLists.txt": "muster_add_library(base SOURCES clock.cpp PRIVATE Api::api)\n"},
                     'host/queue/queue.hpp:2: "muster/error.hpp" belongs to api, which queue does not link')

    def test_a_folder_that_no_target_compiles(self):
        self.refused({"host/CMakeLists.txt": "add_executable(hostd main.cpp)\ntarget_link_libraries(hostd PRIVATE base)\n",
                      "host/queue/CMakeLists.txt": ""},
                     "host/queue: no CMake target compiles its files")

    def test_print_writes_a_table_that_is_accepted(self):
        _, printed = self.run_over({}, "--print")
        self.assertIn("plugin-api/:\n", printed)
        self.assertIn("host/queue: lib/base plugin-api\n", printed)
        self.assertEqual(self.run_over({"tests/project/dependencies.txt": printed}), (0, ""))


if __name__ == "__main__":
    unittest.main()
