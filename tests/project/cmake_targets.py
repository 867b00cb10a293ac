"""Reads which target compiles which file and links which targets, from the text of the CMakeLists.txt files.

Knows the commands that this project uses; a file that is generated at configure time belongs to nobody.
"""
import os
import re

KEYWORDS = {"PUBLIC", "PRIVATE", "INTERFACE", "SOURCES", "LINK", "KIND", "VERSION", "ISOLATION", "STATIC", "SHARED",
            "OBJECT", "EXCLUDE_FROM_ALL"}
TOKEN = re.compile(r'#[^\n]*|"(?:[^"\\]|\\.)*"|[()]|[^\s()#"]+')
WRAPPED = re.compile(r"^\$<BUILD_INTERFACE:(.*)>$")


class Target:
    def __init__(self, name):
        self.name = name
        self.sources = set()
        self.public = set()
        self.private = set()
        self.header_folder = None  # of an INTERFACE library: where it is made


def commands(text):
    """Yields (name, arguments) of each command."""
    name, arguments, depth = None, [], 0
    previous = None
    for match in TOKEN.finditer(text):
        token = match.group(0)
        if token.startswith("#"):
            continue
        if token == "(":
            depth += 1
            if depth == 1:
                name, arguments = previous.lower(), []
        elif token == ")":
            depth -= 1
            if depth == 0:
                yield name, arguments
        elif depth == 0:
            previous = token
        else:
            arguments.append(token.strip('"'))


def sections(arguments, first):
    """Splits arguments by keyword; those before the first keyword are under `first`."""
    found, key = {first: []}, first
    for argument in arguments:
        if argument in KEYWORDS:
            key = argument
            found.setdefault(key, [])
        else:
            found[key].append(argument)
    return found


class Targets:
    """All targets of a tree, by name; `read` takes one CMakeLists.txt at a time."""

    def __init__(self, root):
        self.root = root
        self.by_name = {}
        self.aliases = {}
        self.pending_links = []

    def get(self, name):
        return self.by_name.setdefault(name, Target(name))

    def read(self, path):
        folder = os.path.dirname(path)
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            for name, arguments in commands(file.read()):
                self.take(folder, name, arguments)

    def take(self, folder, command, arguments):
        if not arguments:
            return
        name, parts = arguments[0], sections(arguments[1:], "")
        if command in ("add_library", "add_executable") and "ALIAS" in arguments:
            self.aliases[name] = arguments[-1]
        elif command in ("add_library", "add_executable", "muster_add_library", "target_sources"):
            sources = [word for part in parts.values() for word in part if word.endswith((".cpp", ".c"))]
            self.add_sources(folder, name, sources)
            if command == "add_library" and "INTERFACE" in parts:
                self.get(name).header_folder = folder
            if command == "muster_add_library":
                self.link(name, parts)
        elif command == "muster_add_plugin":
            plugin = "_".join(parts.get("KIND", []) + [name])
            self.add_sources(folder, plugin, parts.get("SOURCES", []))
            # What muster_add_plugin itself links.
            self.link(plugin, {"PRIVATE": parts.get("LINK", []) + ["MusterPluginApi::plugin_api"]})
        elif command == "target_link_libraries":
            self.link(name, parts)

    def add_sources(self, folder, name, sources):
        target = self.get(name)
        for source in sources:
            source = source.replace("${PROJECT_SOURCE_DIR}/", "/")
            if "${" in source:
                continue
            path = source[1:] if source.startswith("/") else os.path.join(folder, source)
            target.sources.add(os.path.normpath(path))

    def link(self, name, parts):
        target = self.get(name)
        for key, words in parts.items():
            for word in words:
                unwrapped = WRAPPED.match(word)
                word = unwrapped.group(1) if unwrapped else word
                if key in ("PUBLIC", "INTERFACE"):
                    target.public.add(word)
                elif key in ("PRIVATE", "", "LINK"):
                    target.private.add(word)

    def named(self, name):
        return self.by_name.get(self.aliases.get(name, name))

    def visible_from(self, target):
        """Names of the targets whose headers the target may include: what it links, and what those link publicly."""
        seen, waiting = {target.name}, list(target.public | target.private)
        while waiting:
            found = self.named(waiting.pop())
            if found and found.name not in seen:
                seen.add(found.name)
                waiting.extend(found.public)
        return seen
