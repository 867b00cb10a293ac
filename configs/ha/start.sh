#!/usr/bin/env bash
# Three hosts on one PostgreSQL, in one terminal: configs/ha/start.sh [folder with musterd]
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
programs=${1:-$here/build/release/bin}
server=/usr/lib/postgresql/15/bin
[ -x "$programs/musterd" ] || { echo "no musterd in $programs: ./dev run builds one" >&2; exit 1; }
[ -x "$server/postgres" ] || { echo "no PostgreSQL 15: apt-get install postgresql" >&2; exit 1; }

folder=$(mktemp -d)
chmod 755 "$folder"
mkdir "$folder/postgres"
as=()
if [ "$(id -u)" -eq 0 ]; then # it refuses root
  chown postgres "$folder/postgres"
  as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
end() {
  trap - EXIT
  for pid in "$folder"/host-*/pid; do kill "$(cat "$pid")" 2>/dev/null || true; done
  sleep 1
  "${as[@]}" "$server/pg_ctl" -D "$folder/postgres/cluster" -m immediate stop >/dev/null || true
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 0' INT TERM

"${as[@]}" "$server/initdb" -D "$folder/postgres/cluster" -U muster --auth=trust --no-sync >/dev/null
"${as[@]}" "$server/pg_ctl" -w -D "$folder/postgres/cluster" -o "-p 5632 -k $folder/postgres -h 127.0.0.1" \
  -l "$folder/postgres/log" start >/dev/null
key=$(head -c 32 /dev/urandom | base64) # decrypts the secrets of clients; all hosts have the same
for i in 1 2 3; do
  mkdir "$folder/host-$i"
  mkdir -m 755 "$folder/host-$i/data"
  (umask 077 && echo "$key" >"$folder/host-$i/data/secrets.key")
  (umask 077 && echo "three-hosts-of-a-tour-share-this-token" >"$folder/host-$i/token")
  cat >"$folder/host-$i/muster.toml" <<TOML
listen = "127.0.0.1:861$i"
dataDirectory = "$folder/host-$i/data"
[auth]
adminTokenFile = "$folder/host-$i/token"
[store]
postgres = "postgresql://muster@127.0.0.1:5632/postgres"
[hosts]
name = "host-$i"
lease = "5s"
TOML
  "$programs/musterd" --config "$folder/host-$i/muster.toml" >"$folder/host-$i/log" 2>&1 &
  echo $! >"$folder/host-$i/pid"
  echo "host-$i: pid $!, http://127.0.0.1:861$i"
done
echo "export MUSTER_URL=http://127.0.0.1:8612 MUSTER_TOKEN=three-hosts-of-a-tour-share-this-token"

before=
while sleep 0.3; do
  now=
  for i in 1 2 3; do
    role=$(curl -s -m 1 "http://127.0.0.1:861$i/readyz" | grep -o '"role": *"[a-z]*"' | grep -o '[a-z]*"$' | tr -d '"' || true)
    now+="host-$i ${role:-away}  "
  done
  [ "$now" = "$before" ] || echo "$(date +%T)  $now"
  before=$now
done
