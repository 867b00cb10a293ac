#!/usr/bin/env python3
"""Cuts Google's description of its Compute Engine API to what the provider uses.

usage: cut_discovery.py DISCOVERY.json   (https://compute.googleapis.com/discovery/v1/apis/compute/v1/rest)

Writes launch.json, a JSON Schema of what a launch may say (the body of instances.insert without what only
Google writes), and methods.json, the calls with their paths and parameters.
"""
import json
import pathlib
import sys

METHODS = [
    "images.get",
    "images.getFromFamily",
    "instances.aggregatedList",
    "instances.bulkInsert",
    "instances.delete",
    "instances.insert",
    "instances.list",
    "machineTypes.get",
    "projects.get",
    "regions.get",
    "subnetworks.get",
    "zoneOperations.list",
    "globalOperations.aggregatedList",
]
# Of AttachedDisk and others: what an answer has and a request does not.
WRITTEN_BY_GOOGLE = ("[Output Only]", "[Output only]", "Output only.")


def is_output(place):
    return place.get("readOnly") or any(place.get("description", "").startswith(word) for word in WRITTEN_BY_GOOGLE)


def schema_of(place, schemas):
    if "$ref" in place:
        return structure(schemas[place["$ref"]], schemas)
    kind = place.get("type", "any")
    if kind == "array":
        return {"type": "array", "items": schema_of(place["items"], schemas)}
    if kind == "object":
        if "properties" in place:
            return structure(place, schemas)
        return {"type": "object", "additionalProperties": schema_of(place.get("additionalProperties", {}), schemas)}
    if kind == "string" and place.get("format") in ("int64", "uint64"):
        return {"type": ["integer", "string"], "pattern": "^-?[0-9]{1,20}$"}
    if kind == "string" and "enum" in place:
        return {"enum": [word for word in place["enum"] if not word.endswith("UNSPECIFIED")]}
    return {} if kind == "any" else {"type": kind}


def structure(schema, schemas):
    if "properties" not in schema:
        return schema_of({**schema, "type": "object"}, schemas)
    properties = {
        name: schema_of(place, schemas)
        for name, place in sorted(schema["properties"].items())
        if not is_output(place) and name not in ("kind", "fingerprint", "labelFingerprint")
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def method(document, name):
    resource, action = name.split(".")
    about = document["resources"][resource]["methods"][action]
    parameters = {**document["parameters"], **about["parameters"]}
    return {
        "verb": about["httpMethod"],
        "path": about["path"],
        "query": sorted(key for key, place in parameters.items() if place.get("location") == "query"
                        and key not in ("access_token", "alt", "callback", "key", "oauth_token", "prettyPrint",
                                        "quotaUser", "uploadType", "upload_protocol", "userIp", "$.xgafv")),
    }


def lines(table):
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(table.items())) + "\n}\n"


def main():
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(__file__).parent
    body = structure(document["schemas"]["Instance"], document["schemas"])
    bulk = document["schemas"]["InstanceProperties"]["properties"]
    launch = {
        "revision": document["revision"],
        # What bulkInsert takes, too: a launch that says more is made machine by machine.
        "bulk": sorted(name for name in body["properties"] if name in bulk),
        "properties": body["properties"],
    }
    (folder / "launch.json").write_text(
        "{\n\"revision\": " + json.dumps(launch["revision"]) + ",\n\"bulk\": " + json.dumps(launch["bulk"]) +
        ",\n\"properties\": " + lines(launch["properties"]).rstrip() + "\n}\n")
    (folder / "methods.json").write_text(lines({name: method(document, name) for name in METHODS}))


main()
