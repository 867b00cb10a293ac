#!/bin/sh
# A worker in 40 lines: runs *.task in the folder that the worker's configuration names as `tasks` or as environment.MUSTER_TASKS.
# A task is taken by a rename into taken/, begun by a rename into claimed/ before its first line runs, and over in done/.
set -u; wanted=run task='' nap=''
# shellcheck source=/dev/null
settings() { set -a; . "$MUSTER_ENVIRONMENT_FILE"; set +a; }
say() { echo "$1" >"$MUSTER_REPORTS"; }
sure() { "$@" || "$@"; }                           # SIGTERM is for the whole group, and ends what runs for a moment, too
trap settings HUP                                  # the configuration was refreshed
trap 'wanted=end; [ -z "$task" ] || kill "$task" 2>/dev/null; [ -z "$nap" ] || kill "$nap" 2>/dev/null' TERM
: "${MUSTER_TASKS:=$(sed -n 's/^ *"tasks": "\(.*\)",\{0,1\}$/\1/p' "$MUSTER_WORKER_CONFIG_FILE")}"
mkdir -p "$MUSTER_TASKS/taken" "$MUSTER_TASKS/claimed" "$MUSTER_TASKS/done" || { say "error no folder $MUSTER_TASKS"; exit 1; }
exec 9>"$MUSTER_TASKS/taken/.$MUSTER_WORKER_ID"; flock -n 9  # for as long as it lives: others can see that it does
give_back() { # what this worker in an earlier life, or others that were killed, had taken and not begun
  for taken in "$MUSTER_TASKS"/taken/*.task.*; do
    [ -e "$taken" ] || continue; name=${taken##*/}; owner=${taken##*.task.}
    [ "$owner" = "$MUSTER_WORKER_ID" ] || flock -n "$MUSTER_TASKS/taken/.$owner" true || continue
    mv -n "$taken" "$MUSTER_TASKS/${name%.task.*}.task" 2>/dev/null
    [ "$owner" = "$MUSTER_WORKER_ID" ] || rm -f "$MUSTER_TASKS/taken/.$owner"
  done
}
work() { # runs one task; false if there was none
  for file in "$MUSTER_TASKS"/*.task; do
    [ "$wanted" = run ] || return 0; name=${file##*/}.$MUSTER_WORKER_ID
    taken="$MUSTER_TASKS/taken/$name" claimed="$MUSTER_TASKS/claimed/$name"
    mv "$file" "$taken" 2>/dev/null; [ -e "$taken" ] || continue  # taken, unless another worker was quicker
    say 'busy 1'
    [ "$wanted" = run ] || { sure mv "$taken" "$file"; return 0; }
    sure mv "$taken" "$claimed" 2>/dev/null; [ -e "$claimed" ] || continue  # begun: it never begins a second time by itself
    sh "$claimed" >"$claimed.log" 2>&1 </dev/null 9>&- & task=$!
    while :; do  # a signal can be lost while the task starts
      [ "$wanted" = run ] || { sleep 1; kill -9 "$task" 2>/dev/null; }
      wait "$task"; code=$?; kill -0 "$task" 2>/dev/null || break
    done; task=''
    if [ "$wanted" = end ] && [ "$code" -gt 128 ]; then rm -f "$claimed.log"; sure mv "$claimed" "$file"; return 0; fi
    echo "exit code $code" >>"$claimed.log"; name=${file##*/}
    sure mv "$claimed.log" "$MUSTER_TASKS/done/${name%.task}.log"; sure rm -f "$claimed"; return 0
  done; return 1
}
give_back; say idle
while [ "$wanted" = run ]; do
  if work; then say idle; else give_back; sleep 1 9>&- & nap=$!; wait "$nap"; nap=''; fi
done
rm -f "$MUSTER_TASKS/taken/.$MUSTER_WORKER_ID"
