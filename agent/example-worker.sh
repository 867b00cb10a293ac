#!/bin/sh
# A worker in 30 lines: runs *.task in the folder that the worker's configuration names as `tasks` or as environment.MUSTER_TASKS.
set -u; wanted=run task='' nap=''
# shellcheck source=/dev/null
settings() { set -a; . "$MUSTER_ENVIRONMENT_FILE"; set +a; }
say() { echo "$1" >"$MUSTER_REPORTS"; }
sure() { "$@" || "$@"; }                           # SIGTERM is for the whole group, and ends what runs for a moment, too
trap settings HUP                                  # the configuration was refreshed
trap 'wanted=end; [ -z "$task" ] || kill "$task" 2>/dev/null; [ -z "$nap" ] || kill "$nap" 2>/dev/null' TERM
: "${MUSTER_TASKS:=$(sed -n 's/^ *"tasks": "\(.*\)",\{0,1\}$/\1/p' "$MUSTER_WORKER_CONFIG_FILE")}"
mkdir -p "$MUSTER_TASKS/claimed" "$MUSTER_TASKS/done" || { say "error no folder $MUSTER_TASKS"; exit 1; }
work() { # runs one task; false if there was none
  for file in "$MUSTER_TASKS"/*.task; do
    [ "$wanted" = run ] || return 0; claimed="$MUSTER_TASKS/claimed/${file##*/}.$MUSTER_WORKER_ID"
    mv "$file" "$claimed" 2>/dev/null; [ -e "$claimed" ] || continue  # claimed, unless another worker was quicker
    say 'busy 1'
    sh "$claimed" >"$claimed.log" 2>&1 </dev/null & task=$!
    while :; do  # a signal can be lost while the task starts
      [ "$wanted" = run ] || { sleep 1; kill -9 "$task" 2>/dev/null; }
      wait "$task"; code=$?; kill -0 "$task" 2>/dev/null || break
    done; task=''
    if [ "$wanted" = end ] && [ "$code" -gt 128 ]; then rm -f "$claimed.log"; sure mv "$claimed" "$file"; return 0; fi
    echo "exit code $code" >>"$claimed.log"; name=${file##*/}
    sure mv "$claimed.log" "$MUSTER_TASKS/done/${name%.task}.log"; sure rm -f "$claimed"; return 0
  done; return 1
}
say idle
while [ "$wanted" = run ]; do
  if work; then say idle; else sleep 1 & nap=$!; wait "$nap"; nap=''; fi
done
