#!/usr/bin/env bash
# Runs tests of clouds: run_tests.sh <node> <folder with node_modules and links to the tests> <folder with musterd> <arguments of node, or test files>.
# The files are links; node must look for packages beside the links.
set -euo pipefail
node=$1 folder=$(readlink -f "$2")
MUSTER_BIN=$(readlink -f "$3")
MUSTER_SOURCE=$(readlink -f "$(dirname "$0")/../..")
NODE_OPTIONS="--preserve-symlinks --preserve-symlinks-main"
export MUSTER_BIN MUSTER_SOURCE NODE_OPTIONS
shift 3
cd "$folder"
exec "$node" --test "$@"
