#!/usr/bin/env python3
"""A strategy behind muster's strategy/external: the cheapest healthy offers. Usage: external_strategy.py [port]"""
from json_service import serve

def size(ask):
    capacity, settings = ask["capacity"], ask["settings"]
    there = capacity["running"] + capacity["requested"]
    wanted = max(ask["pending"] - capacity["requested"], settings["minCapacity"] - there)
    wanted = min(wanted, settings["maxCapacity"] - there)
    return {"capacity": wanted, "reason": f"{ask['pending']} wait, {there} of {settings['maxCapacity']} are there"}

def select(ask):
    needed, choices = ask["capacity"], []
    usable = [o for o in ask["offers"] if o["weight"] > 0 and o["bid"]["capacityPerInstance"] > 0]
    for offer in sorted(usable, key=lambda o: (o["bid"]["pricePerCapacityHour"] / o["weight"], o["bidId"])):
        each = offer["bid"]["capacityPerInstance"]
        instances = min(offer["bid"]["instances"], -(-needed // each))  # rounded up
        if needed > 0 and instances > 0:
            choices.append({"bidId": offer["bidId"], "instances": instances})
            needed -= instances * each
    return {"choices": choices, "reason": f"the cheapest {len(choices)} of {len(ask['offers'])} offers"}

serve({"size": size, "select": select})
