#!/usr/bin/env python3
"""Runs check_includes.py over small trees."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_includes.py")


class CheckIncludes(unittest.TestCase):
    def output_for(self, files, *arguments):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            subprocess.run(["git", "init", "-q", root], check=True)
            done = subprocess.run([sys.executable, CHECK, "--root", root, *arguments], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1 if done.stderr else 0, done.stderr)
            return done.stderr

    def test_a_missing_header_is_named_with_its_place(self):
        self.assertEqual(self.output_for({"lib/a.cpp": "#include <string>\n\nstd::vector<int> numbers;\n"}),
                         "lib/a.cpp:3: std::vector needs #include <vector>\n")

    def test_a_header_of_ours_may_bring_it(self):
        self.assertEqual(self.output_for({"lib/a.hpp": '#include "b.hpp"\n', "lib/b.hpp": "#include <vector>\n",
                                          "lib/a.cpp": '#include "lib/a.hpp"\nstd::vector<int> numbers;\n'}), "")

    def test_a_public_header_may_bring_it(self):
        self.assertEqual(self.output_for({"plugin-api/include/muster/error.hpp": "#include <optional>\n",
                                          "lib/a.cpp": "#include <muster/error.hpp>\nstd::optional<int> number;\n"}), "")

    def test_a_header_that_includes_nothing_is_found_even_if_its_user_has_the_include(self):
        self.assertEqual(self.output_for({"lib/a.hpp": "std::optional<int> number;\n",
                                          "lib/a.cpp": '#include <optional>\n#include "lib/a.hpp"\n'}),
                         "lib/a.hpp:1: std::optional needs #include <optional>\n")

    def test_comments_and_strings_are_not_code(self):
        self.assertEqual(self.output_for({"lib/a.cpp": '// std::map\n/* std::set\n */ const char* t = "std::map";\n'}), "")

    def test_only_the_files_that_are_named(self):
        files = {"lib/a.cpp": "std::map<int, int> a;\n", "lib/b.cpp": "std::set<int> b;\n"}
        self.assertEqual(self.output_for(files, "lib/b.cpp"), "lib/b.cpp:1: std::set needs #include <set>\n")


if __name__ == "__main__":
    unittest.main()
