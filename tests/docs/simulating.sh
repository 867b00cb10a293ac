# shellcheck shell=bash
printf 'time,workerType,tasks,taskSeconds\n0,build-opt,4,900\n' >monday.csv
printf '{"time": "00:00:00", "workerType": "default", "tasks": 4, "taskSeconds": 60}\n' >weekend.jsonl
mkdir -p ../proposal ~/root/etc/muster ~/root/var/lib/muster/workers
cp -rL configs/workers ../proposal/
cp configs/workers/default.toml ~/root/var/lib/muster/workers
musterd --print-default-config | sed "s|/var/lib/muster|$HOME/root/var/lib/muster|g" >~/root/etc/muster/muster.toml
