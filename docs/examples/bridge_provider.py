#!/usr/bin/env python3
"""A provider behind muster's bridge: a lab with four machines, in memory. Usage: bridge_provider.py [port]"""
import datetime, secrets
from json_service import serve

machines = {}  # by hostId, providerId and idempotency key

def living(owner=None):
    return [m for key, m in machines.items() if m["state"] != "stopped" and owner in (None, key[:2])]

def owner_of(ask):
    return ask["owner"]["hostId"], ask["owner"]["providerId"]

def bid(ask):
    free = 4 - len(living())
    return {"bids": [{"launchConfigId": c["launchConfig"]["launchConfigId"], "capacityPerInstance": 1,
                      "instances": min(free, c.get("maxInstances", free)), "pricePerCapacityHour": 0.01}
                     for c in ask["candidates"]]}

def launch(ask, key):
    if (*owner_of(ask), key) not in machines and len(living()) >= 4:
        return {"idempotencyKey": key, "error": {"class": "capacity", "message": "all machines are taken"}}
    config = ask["launchConfig"]
    machine = {"workerGroup": "lab", "workerId": f"lab-{len(machines)}", "idempotencyKey": key, "state": "running",
               "workerPoolId": config["workerPoolId"], "launchConfigId": config["launchConfigId"],
               "epoch": ask["owner"]["epoch"], "tags": ask["tags"], "created": datetime.datetime.utcnow().isoformat() + "Z",
               "providerData": {"v": 1, "token": secrets.token_hex()}}  # a real machine gets it when it boots
    return {"idempotencyKey": key, "instance": machines.setdefault((*owner_of(ask), key), machine)}

def allocate(ask):
    if any(m["epoch"] > ask["owner"]["epoch"] for m in living(owner_of(ask))):
        return {"error": {"class": "invalid", "message": "this host was superseded by a newer start of itself"}}
    return {"launches": [launch(ask, key) for key in ask["idempotencyKeys"]]}

def terminate(ask):
    for machine in living(owner_of(ask)):
        if machine["workerId"] in [worker["workerId"] for worker in ask["workers"]]:
            machine["state"] = "stopped"
    return {}

def identify(ask):
    for machine in living():
        if (machine["workerId"], machine["providerData"]["token"]) == (ask["workerId"], ask["proof"].get("token")):
            return {"workerGroup": "lab", "workerId": ask["workerId"]}
    return {"error": {"class": "auth", "message": "the token is not that of this worker"}}

serve({"placements": lambda ask: {"placements": [{"facts": {"region": "lab"}}]},
       "expand": lambda ask: {"launchDocuments": [{"document": {"bridge": ask["document"].get("bridge", {})}}]},
       "list": lambda ask: {"instances": living(owner_of(ask))},
       "notices": lambda ask: {"notices": []},
       "bid": bid, "allocate": allocate, "terminate": terminate, "identify": identify})
