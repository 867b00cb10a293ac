#!/usr/bin/env bash
# Runs tests in Node: run_node_tests.sh <folder of the tests> <node> <folder with node_modules> <folder with musterd> <arguments of node, or test files>.
# They are copied beside their packages, because that is where node looks for those.
set -euo pipefail
tests=$(readlink -f "$1")
node=$2 folder=$(readlink -f "$3")
MUSTER_BIN=$(readlink -f "$4")
MUSTER_SOURCE=$(readlink -f "$(dirname "$0")/../..")
export MUSTER_BIN MUSTER_SOURCE
shift 4
rm -rf "${folder:?}"/*.mjs "${folder:?}/lib"
cp -r "$tests"/*.mjs "$tests/lib" "$folder"
cd "$folder"
exec "$node" --test "$@"
