#!/usr/bin/env python3
"""Cuts Microsoft's description of virtual machines to a JSON Schema of what teams may write: model.json.

    cut_model.py <folder "specification" of azure-rest-api-specs>          writes the schema to standard output
    cut_model.py <folder "specification" of azure-rest-api-specs> --check  exit code 1 if model.json differs from it

Properties that Azure alone sets (readOnly) are left out. Everything else is as the PUT of a virtual machine has it: nested
`properties` stay nested.
"""
import json
import os
import sys

COMPUTE = "compute/resource-manager/Microsoft.Compute/ComputeRP/stable/2024-07-01/virtualMachine.json"
RESOURCES = "resources/resource-manager/Microsoft.Resources/stable/2024-07-01/resources.json"
ROOTS = {"virtualMachine": (COMPUTE, "VirtualMachine"), "deployment": (RESOURCES, "DeploymentProperties")}
MOST_WORDS = 40  # an enum with more grows all the time: a new word is no mistake
KEPT = ("type", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


class Cutter:
    def __init__(self, folder):
        self.folder = folder
        self.files = {}
        self.definitions = {}
        self.sources = {}

    def load(self, file):
        if file not in self.files:
            with open(os.path.join(self.folder, file), encoding="utf-8") as source:
                self.files[file] = json.load(source)
        return self.files[file]

    def resolve(self, file, reference):
        path, _, pointer = reference.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
        return target, pointer.rsplit("/", 1)[-1]

    def reference(self, file, name):
        if self.sources.setdefault(name, file) != file:
            raise SystemExit(f"two definitions are called {name}: in {self.sources[name]} and {file}")
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name].update(self.cut(file, self.load(file)["definitions"][name]))
        return {"$ref": f"#/$defs/{name}"}

    def members(self, file, definition):
        """Properties and required names, with those of what it extends."""
        properties, required = {}, []
        for base in definition.get("allOf", []):
            at, name = self.resolve(file, base["$ref"])
            for key, place in self.members(at, self.load(at)["definitions"][name])[0].items():
                properties[key] = place
        for key, value in definition.get("properties", {}).items():
            if not value.get("readOnly"):
                properties[key] = (file, value)
        required += [name for name in definition.get("required", []) if name in properties]
        return properties, required

    def cut(self, file, definition):
        if "$ref" in definition:
            return self.reference(*self.resolve(file, definition["$ref"]))
        if "properties" in definition or "allOf" in definition:
            properties, required = self.members(file, definition)
            schema = {"type": "object", "additionalProperties": False,
                      "properties": {key: self.cut(*place) for key, place in properties.items()}}
            return {**schema, "required": required} if required else schema
        schema = {key: definition[key] for key in KEPT if key in definition}
        if len(definition.get("enum", [])) in range(1, MOST_WORDS + 1):
            schema["enum"] = definition["enum"]
        if "items" in definition:
            schema["items"] = self.cut(file, definition["items"])
        if isinstance(definition.get("additionalProperties"), dict):
            schema["additionalProperties"] = self.cut(file, definition["additionalProperties"])
        return schema


def write(folder):
    cutter = Cutter(folder)
    roots = {key: cutter.reference(*place) for key, place in ROOTS.items()}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in roots.items()]
    definitions = [f"  {json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}"
                   for name, value in sorted(cutter.definitions.items())]
    return "{\n" + ",\n".join(lines) + ',\n "$defs": {\n' + ",\n".join(definitions) + "\n }\n}\n"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        raise SystemExit(__doc__)
    cut = write(sys.argv[1])
    if len(sys.argv) == 2:
        sys.stdout.write(cut)
        return
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "model.json"), encoding="utf-8") as kept:
        if kept.read() != cut:
            raise SystemExit("model.json is not what Microsoft's description gives; make it anew: cut_model.py <folder> > model.json")


main()
