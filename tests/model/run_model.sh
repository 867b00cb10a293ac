#!/usr/bin/env bash
# Checks tests/model/lead.pml exhaustively, and that each of its mutations fails: run_model.sh <folder for files>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# check <name> [-D...]: prints "errors: N" and whether the search was complete.
check() {
  local name=$1
  shift
  rm -rf "$name"
  mkdir "$name"
  (
    cd "$name"
    spin -a "$@" "$here/lead.pml" >spin.log
    cc -O1 -DSAFETY -DVECTORSZ=2048 -o pan pan.c
    ./pan -m200000 >pan.log || true
    grep -q "max search depth too small\|out of memory\|VECTORSZ too small" pan.log && echo incomplete
    grep -o "errors: [0-9]*" pan.log
  )
}

failed=0
expect() {
  local wanted=$1 found=$2 what=$3
  if [ "$found" = "$wanted" ]; then
    echo "good: $what"
  else
    echo "BAD: $what: \"$found\" and not \"$wanted\""
    failed=1
  fi
}

expect "errors: 0" "$(check model)" "the model holds"
grep -q "unreached in proctype Host" model/pan.log
grep "states, stored" model/pan.log
for mutation in NO_EPOCH_CHECK LEASE_BY_WALL_CLOCK RELY_FROM_ANSWER KEY_OF_EPOCH; do
  expect "errors: 1" "$(check "$mutation" "-D$mutation")" "without $mutation's protection it fails"
done
exit "$failed"
