"""Checks every `muster ...` command that a text of this project advises against the parser of the program itself.

usage: advised_commands.py PATH-TO-MUSTER SOURCE-FOLDER

A command is advised by a string literal of the C++ sources, by an attribute or text of the dashboard, by a comment of a
sample configuration, and by code of a page (a fence or `...`). Each command must exist, and so must each of its options.
"""

import pathlib
import re
import subprocess
import sys

SOURCES = ["agent", "cli", "host", "lib", "plugin-api", "plugins", "relay", "rules", "tests"]
OTHERS = ["configs/**/*.toml", "web/*", "host/**/*.json", "tests/cli/cases/*/std*"]
PAGES = ["*.md", "*/README.md", "changes/*.md", "docs/**/*.md"]

# Words that follow the name of the project in a sentence. None of them may ever be a command.
PROSE = set("""a adds again and answers asks at buys can challenge could decides describes does for hands has host in
is it itself keeps knows launches made makes must names nor of on or passes reads registration requests sets
start tags that took wants will with writes wrote""".split())
PLACEHOLDER = re.compile(r"\.\.\.|[\[A-Z]")

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
BETWEEN_LITERALS = re.compile(r'\s*(//[^\n]*\n\s*)*')
COMMAND = re.compile(r"(?<![\w/.:@+$-])muster((?: +[^\s`'\";|&()<>,]+)+)")
FENCE = re.compile(r"^\s*```")


class Parser:
    """What the program's own help says of its commands."""

    def __init__(self, program):
        self.program = program
        self.known = {}

    def help(self, path):
        if path not in self.known:
            answer = subprocess.run([self.program, *path, "--help"], capture_output=True, text=True, timeout=60)
            text = answer.stdout if answer.returncode == 0 else ""
            self.known[path] = text if ("Usage: " + " ".join(("muster",) + path) + " ") in text else ""
        return self.known[path]

    def subcommands(self, path):
        names = set()
        for heading in ("\nSubcommands:\n", "\nOther spellings:\n"):
            _, _, listed = self.help(path).partition(heading)
            names |= set(re.findall(r"^  ([a-z][a-z-]*)", listed.split("\n\n")[0], re.MULTILINE))
        return names

    def options(self, path):
        return set(re.findall(r"(?:^ +|,)(--?[A-Za-z][a-z-]*)", self.help(path), re.MULTILINE))

    def problem(self, words):
        """What is wrong with the words after `muster`; None if nothing is."""
        path = ()
        for at, word in enumerate(words):
            if word == "--" or PLACEHOLDER.match(word):
                return None
            if word.startswith("-"):
                option = word.split("=")[0].rstrip(".:?")
                if option != "-" and option not in self.options(path):
                    return f"{' '.join(('muster',) + path)} has no option {option}"
            elif word.rstrip(".:?") in self.subcommands(path) and not (path and at > len(path)):
                path += (word.rstrip(".:?"),)
            elif not path:
                return f"there is no command muster {word}"
            elif "SUBCOMMAND" in self.usage(path).split("[OPTIONS]")[-1].replace("[SUBCOMMAND]", ""):
                return f"{' '.join(('muster',) + path)} has no command {word}"
        return None

    def usage(self, path):
        return re.search(r"^Usage: .*", self.help(path), re.MULTILINE).group()


def literals(text):
    """The string literals of C++ with their offsets; what the compiler joins is one."""
    joined, begin, end = "", 0, -1
    for found in LITERAL.finditer(text):
        if end >= 0 and BETWEEN_LITERALS.fullmatch(text, end, found.start()):
            joined += found.group(1)
        else:
            if joined:
                yield begin, joined
            joined, begin = found.group(1), found.start()
        end = found.end()
    if joined:
        yield begin, joined


def code_of_page(text):
    """Lines of fences and `...` of a page, with their offsets."""
    offset, fenced = 0, False
    for line in text.splitlines(keepends=True):
        if FENCE.match(line):
            fenced = not fenced
        elif fenced:
            yield offset, line.split(" # ")[0]
        else:
            for code in re.finditer(r"`([^`\n]+)`", line):
                yield offset + code.start(), code.group(1)
        offset += len(line)


def texts_of(root):
    for folder in SOURCES:
        for file in sorted([*(root / folder).rglob("*.cpp"), *(root / folder).rglob("*.hpp")]):
            if file.name == "reference_test.cpp":  # about mistyped commands
                continue
            text = file.read_text()
            for offset, literal in literals(text):
                yield file, text.count("\n", 0, offset) + 1, literal.replace(r"\n", "\n").replace(r"\"", '"')
    for pattern in OTHERS:
        for file in sorted(root.glob(pattern)):
            if file.is_file():
                for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                    yield file, number, line
    for pattern in PAGES:
        for file in sorted(root.glob(pattern)):
            text = file.read_text()
            for offset, code in code_of_page(text):
                yield file, text.count("\n", 0, offset) + 1, code


def main(program, root):
    parser = Parser(program)
    commands = parser.subcommands(())
    problems = [f"`{word}` is a command, so it cannot be a word of prose" for word in sorted(PROSE & commands)]
    checked = 0
    for file, line, text in texts_of(root):
        for found in COMMAND.finditer(text):
            words = found.group(1).split()
            if words[0].rstrip(".:?") in PROSE or not re.match(r"[a-z]|--", words[0]):
                continue
            if " has no option " in found.group():  # the program's own answer to a mistyped one
                continue
            checked += 1
            if problem := parser.problem(words):
                problems.append(f"{file.relative_to(root)}:{line}: {problem}, but it advises: {found.group()}")
    print(*problems, sep="\n" if problems else "")
    print(f"{checked} advised commands, {len(problems)} wrong")
    return 1 if problems or not commands or checked == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
