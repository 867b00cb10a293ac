#!/usr/bin/env bash
# The tables of docs/cli.md are what the program says of itself; --update writes them anew.
set -euo pipefail
update=0
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
if [ $# != 2 ]; then
  echo "usage: $0 [--update] PATH-TO-MUSTER PATH-TO-cli.md" >&2
  exit 2
fi
muster=$1 page=$2
head=$(sed '/^<!-- made by/q' "$page")
whole=$(printf '%s\n\n' "$head" && "$muster" commands --markdown)
if [ $update = 1 ]; then
  printf '%s\n' "$whole" >"$page"
elif ! diff -u "$page" <(printf '%s\n' "$whole"); then
  echo "docs/cli.md is not what the program says; run: tests/cli/check_reference.sh --update PATH-TO-MUSTER docs/cli.md" >&2
  exit 1
fi
