#!/usr/bin/env bash
# usage: install_test.sh <build folder> <work folder>
# What `cmake --install` puts into a prefix is a whole host: its configuration is good, its units are sound and hardened, it
# starts with its own plugins wherever the prefix was moved to, its workers do tasks, and plugins are developed against it.
set -euo pipefail
umask 022
build=$1 work=$2 source=$(dirname "$(readlink -f "$0")")/../..
rm -rf "$work"
mkdir -p "$work"
exec 3>&1 >"$work/log" 2>&1
host=
cleanup() {
  local code=$?
  [ -z "$host" ] || { kill "$host" && wait "$host"; } 2>/dev/null || code=1
  [ "$code" = 0 ] || tail -n 60 "$work/log" "$work/host.log" >&3 2>/dev/null
  exit "$code"
}
trap cleanup EXIT
die() {
  echo "install_test: $*"
  exit 1
}
# eventually <what> <command...>
eventually() {
  local what=$1 i
  shift
  for ((i = 0; i < 600; ++i)); do
    if "$@" >/dev/null 2>&1; then return; fi
    kill -0 "$host" || die "the host has ended; waited for: $what"
    sleep 0.1
  done
  die "not within a minute: $what"
}

echo "== everything is there"
prefix=$work/installed
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/{musterd,muster,muster-agent,muster-relay,muster-cell} lib/muster/example-worker \
  lib/muster/plugins/provider/{local,simulated,static,bridge}/plugin.toml lib/muster/plugins/strategy/{classic,cheapest}/plugin.toml \
  lib/systemd/system/{musterd,muster-agent,muster-relay}.service etc/muster/muster.toml etc/muster/workers/default.toml \
  include/muster/abi.h include/muster/rules share/muster/plugin-template/provider/CMakeLists.txt \
  share/doc/muster/{copyright,README.md,docs/operating.md} share/doc/muster-relay/examples/relay.toml share/licenses/muster/LICENSE; do
  [ -e "$prefix/$file" ] || die "$file was not installed"
done
for manifest in "$prefix"/lib/muster/plugins/*/*/plugin.toml; do
  digest=$(sha256sum "$(dirname "$manifest")"/*.so | cut -d' ' -f1)
  grep -qxF "sha256 = \"$digest\"" "$manifest" || die "$manifest is of other bytes"
done
for folder in man/man1 bash-completion/completions zsh/vendor-completions fish/vendor_completions.d; do
  [ ! -d "$build/share/$folder" ] || diff -r "$build/share/$folder" "$prefix/share/$folder"
done

echo "== the configuration is good, and an administrator's change survives the next installation"
"$prefix/bin/musterd" --check --config "$prefix/etc/muster/muster.toml"
"$prefix/bin/muster" check "$prefix/etc/muster/workers"
"$prefix/bin/musterd" --check --config "$source/packaging/compose/muster.toml"
echo '# mine' >>"$prefix/etc/muster/muster.toml"
cmake --install "$build" --prefix "$prefix" --component host >/dev/null
grep -qx '# mine' "$prefix/etc/muster/muster.toml" || die "muster.toml was replaced"
[ -f "$prefix/etc/muster/muster.toml.new" ] || die "the new muster.toml is nowhere"

echo "== units"
if command -v systemd-analyze >/dev/null; then
  for unit in "$prefix"/lib/systemd/system/*.service; do
    systemd-analyze verify "$unit" # of programs that are there: the paths are those of the prefix
    systemd-analyze security --offline=true --no-pager --threshold=29 "$unit" >"$work/exposure" || die "$unit: $(tail -1 "$work/exposure")"
  done
fi

echo "== it starts with its plugins, also where it was moved to"
mv "$prefix" "$work/moved"
prefix=$work/moved
export PATH="$prefix/bin:$PATH" HOME=$work XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
unset STATE_DIRECTORY MUSTER_URL MUSTER_TOKEN TASKCLUSTER_ROOT_URL
mkdir -p "$work/state/muster/workers" "$work/state/muster/tasks/worker-manager/default"
chmod 711 "$work" "$work/state" "$work/state/muster" "$work/state/muster/tasks" "$work/state/muster/tasks/worker-manager"
chmod 777 "$work/state/muster/tasks/worker-manager/default"
musterd --print-default-config | sed 's/^listen = .*/listen = "127.0.0.1:0"/' >"$work/host.toml"
grep -qF "\"$prefix/lib/muster/plugins\"" "$work/host.toml" || die "plugins are not looked for below the prefix"
sed "s|/var/lib/muster/tasks|$work/state/muster/tasks|" "$prefix/etc/muster/workers/default.toml" \
  >"$work/state/muster/workers/default.toml"
musterd --config "$work/host.toml" >"$work/host.log" 2>&1 &
host=$!
eventually "the host answers" muster status
muster plugin list
echo 'echo done' >"$work/new"
mv "$work/new" "$work/state/muster/tasks/worker-manager/default/1.task"
eventually "a worker has done a task" test -s "$work/state/muster/tasks/worker-manager/default/done/1.log"

echo "== a plugin is developed against it"
cd "$work"
muster plugin new provider my_lab
cmake -S my_lab -B my_lab/build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)"
cmake --build my_lab/build --target provider_my_lab
muster plugin check my_lab/build/plugins/provider/my_lab
muster plugin install my_lab/build/plugins/provider/my_lab
mkdir "$work/rules"
cat >"$work/rules/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(uses_rules LANGUAGES C CXX)
find_package(MusterRules REQUIRED)
if(NOT TARGET MusterRules::rules)
  message(FATAL_ERROR "there is no target MusterRules::rules")
endif()
TEXT
cmake -S "$work/rules" -B "$work/rules/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
