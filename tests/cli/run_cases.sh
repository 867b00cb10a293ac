#!/usr/bin/env bash
# Runs the cases of `muster`: each folder under cases/ holds
#   command   a shell script, run in a copy of files/ with `muster` on the PATH and git set up
#   files/    what the folder holds before (optional)
#   stdout, stderr, exit   what is expected (empty, empty and 0 if missing)
#   after/    files as they must be afterwards (optional)
#   as-nobody run without the rights of root (optional, empty)
# Adding a case is adding a folder. `run_cases.sh --update MUSTER [CASE...]` writes the expectations anew: read them
# before you commit them.
set -u
update=0
if [ "${1:-}" = --update ]; then update=1; shift; fi
if [ $# -lt 1 ]; then echo "usage: $0 [--update] PATH-TO-MUSTER [CASE...]" >&2; exit 2; fi
muster=$(realpath "$1"); shift
cases=$(realpath "$(dirname "$0")")/cases
work=$(mktemp -d); trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/bin" "$work/run"; cp "$muster" "$work/bin/muster"
# What comes with the program is found beside it.
lib=$(dirname "$muster")/../lib; if [ -d "$lib" ]; then ln -s "$(realpath "$lib")" "$work/lib"; fi
cell=$(dirname "$muster")/muster-cell; if [ -e "$cell" ]; then ln -s "$cell" "$work/bin/muster-cell"; fi

export PATH="$work/bin:$PATH" LC_ALL=C.UTF-8 HOME="$work" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
export GIT_CEILING_DIRECTORIES="$work"
unset NO_COLOR GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git config --global init.defaultBranch main

if [ $# -eq 0 ]; then mapfile -t names < <(cd "$cases" && ls); else names=("$@"); fi
failed=0
for name in "${names[@]}"; do
  case=$cases/$name here=$work/run/$name
  mkdir -p "$here"
  if [ -d "$case/files" ]; then cp -a "$case/files/." "$here/"; fi
  # Root may read and write everything; what must fail for want of permission is tried as nobody.
  as=()
  if [ -e "$case/as-nobody" ] && [ "$(id -u)" = 0 ]; then
    chown -R 65534:65534 "$here"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  fi
  cp "$case/command" "$work/command"
  (cd "$here" && "${as[@]}" bash -u "$work/command") > "$work/stdout" 2> "$work/stderr" < /dev/null
  code=$?
  if [ $update = 1 ]; then
    for stream in stdout stderr; do
      rm -f "$case/$stream"
      if [ -s "$work/$stream" ]; then cp "$work/$stream" "$case/$stream"; fi
    done
    rm -f "$case/exit"
    if [ $code != 0 ]; then echo $code > "$case/exit"; fi
    if [ -d "$case/after" ]; then
      for file in $(cd "$case/after" && find . -type f); do cp "$here/$file" "$case/after/$file"; done
    fi
    continue
  fi
  wrong=""
  expected=0; if [ -e "$case/exit" ]; then expected=$(cat "$case/exit"); fi
  if [ "$code" != "$expected" ]; then wrong+="exit code $code, expected $expected"$'\n'; fi
  for stream in stdout stderr; do
    file=$case/$stream; if [ ! -e "$file" ]; then file=/dev/null; fi
    wrong+=$(diff -u --label "expected $stream" --label "$stream" "$file" "$work/$stream")
  done
  if [ -d "$case/after" ]; then
    for file in $(cd "$case/after" && find . -type f); do
      wrong+=$(cmp "$case/after/$file" "$here/$file" 2>&1 || diff -u "$case/after/$file" "$here/$file")
    done
  fi
  if [ -n "$wrong" ]; then
    failed=$((failed + 1))
    printf 'FAILED %s\n%s\n' "$name" "$wrong"
  fi
done
echo "${#names[@]} cases, $failed failed"
[ $failed = 0 ]
