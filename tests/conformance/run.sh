#!/usr/bin/env bash
# Runs the tests: run.sh <node> <folder with node_modules> <folder with musterd> [arguments of node, or test files].
# They are copied beside their packages, because that is where node looks for those.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
node=$1 folder=$2
export MUSTER_BIN=$3
shift 3
rm -rf "${folder:?}"/*.mjs "${folder:?}/lib"
cp -r "$here"/*.mjs "$here/lib" "$folder"
cd "$folder"
[ $# -gt 0 ] || set -- conformance.mjs
exec "$node" --test "$@"
