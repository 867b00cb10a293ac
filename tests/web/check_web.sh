#!/usr/bin/env bash
# usage: check_web.sh <node> <folder in which the dashboard is built>
set -euo pipefail
node=$1 web=$2
tests=$(dirname "$(readlink -f "$0")")
cd "$web"
node_modules/.bin/tsc --noEmit -p .
node_modules/.bin/oxlint --quiet src
rm -rf tests unit && mkdir unit && cp -r "$tests" tests
node_modules/.bin/esbuild tests/*.test.ts --bundle --platform=node --format=esm --out-extension:.js=.mjs --outdir=unit --log-level=warning \
  --jsx=automatic --jsx-import-source=preact --loader:.css=empty
exec "$node" --test unit/
