"""Metrics: the program, the table in docs/operating.md, the alert rules and the board name the same ones.

The rules themselves are checked and tested by promtool.
"""
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
folder = root / "configs" / "observability"
name = r"\b(?:muster|worker_manager)_[a-z0-9_]+"
problems = []


def metrics_of_program():
    """Names in the sources of the host and its libraries, as string literals."""
    found = set()
    for top in ("host", "lib"):
        for file in (root / top).rglob("*.cpp"):
            found.update(re.findall(r'"((?:muster|worker_manager)_[a-z0-9_]+)"', file.read_text()))
    return found


def metrics_of_docs():
    text = (root / "docs" / "operating.md").read_text()
    section = text[text.index("\n## Metrics\n"):]
    section = section[: section.index("\n## ", 5)]
    table = "\n".join(line for line in section.splitlines() if line.startswith("| `"))
    return set(re.findall("`(" + name[2:] + ")", table))


def without_suffix(metric):
    return re.sub("_(bucket|count|sum)$", "", metric) if metric.endswith(("_bucket", "_count", "_sum")) else metric


def check_queries(queries, known, where):
    for query in queries:
        for metric in re.findall(name, query):
            if metric not in known and without_suffix(metric) not in known:
                problems.append(f"{where} uses {metric}, which docs/operating.md does not have")


def queries_of_board():
    board = json.loads((folder / "grafana-board.json").read_text())
    for panel in board["panels"]:
        if not panel["targets"]:
            problems.append(f"the board's panel {panel['title']} has no query")
        yield from (target["expr"] for target in panel["targets"])
    yield from (variable["query"] for variable in board["templating"]["list"])


def check_alerts_are_tested(rules):
    tests = (folder / "muster.test.yml").read_text()
    for alert in re.findall(r"- alert: (\w+)", rules):
        for value in (0, 1):
            if not re.search(alert + r'"[^}]*}[^\n]*\n[^\n]*\n\s*exp_samples: \[{value: %d}\]' % value, tests):
                problems.append(f"muster.test.yml has no case in which {alert} " + ("fires" if value else "is quiet"))


def run_promtool():
    for words in (["check", "rules", "muster.rules.yml"], ["test", "rules", "muster.test.yml"]):
        done = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"promtool {' '.join(words)}:\n{done.stdout}{done.stderr}")


program, docs = metrics_of_program(), metrics_of_docs()
for metric in sorted(program - docs):
    problems.append(f"the program has {metric}, and the table in docs/operating.md does not")
for metric in sorted(docs - program):
    problems.append(f"the table in docs/operating.md has {metric}, and the program does not")
alert_rules = (folder / "muster.rules.yml").read_text()
check_queries(re.findall(r"expr: (.*)", alert_rules), docs, "muster.rules.yml")
check_queries(queries_of_board(), docs, "grafana-board.json")
check_alerts_are_tested(alert_rules)
run_promtool()
print("\n".join(problems))
sys.exit(1 if problems else 0)
