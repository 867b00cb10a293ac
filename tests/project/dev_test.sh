#!/usr/bin/env bash
# What ./dev does with commits and the changelog, in a repository of its own.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a \
  GIT_COMMITTER_EMAIL=a@example.com
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

fail() {
  echo "dev_test: $*" >&2
  exit 1
}
# refused <words> <command...>: the command fails, and says the words.
refused() {
  local words=$1 output
  shift
  if output=$("$@" 2>&1); then fail "not refused: $*"; fi
  grep -qF -- "$words" <<<"$output" || fail "$* said: $output"
}

git init -q -b main .
cp "$here/../../dev" .
mkdir changes
echo 'project(muster VERSION 1.2.0 LANGUAGES CXX)' >CMakeLists.txt
printf '# Changes\n\nWhat changed.\n\n## 1.1.0 (2026-01-01)\n\n- cli: old\n' >CHANGELOG.md
echo 'How to write a note.' >changes/README.md
printf 'Holds end\nin time.\n' >changes/fleet-holds.md
echo 'A new flag.' >changes/cli-flag.md

# Hooks: the subject of a commit has an area.
./dev hook 2>/dev/null
./dev hook 2>/dev/null # a second time changes nothing
[ -x .git/hooks/pre-push ] || fail "no pre-push hook"
grep -q 'dev" lint --changed' .git/hooks/pre-push || fail "pre-push does not lint"
git add .
refused 'has no area' git commit -m 'Do a thing'
refused 'has no area' git commit -m 'Fleet: do a thing'
refused 'has no area' git commit -m 'fleet:'
refused '100 is the limit' git commit -m "fleet: $(printf 'x%.0s' {1..100})"
git commit -qm 'fleet: do a thing'
for good in 'lib/http, api: two areas' 'plugin-api: a dash' 'fixup! fleet: do a thing' 'Revert "fleet: do a thing"'; do
  git commit -q --allow-empty -m "$good" || fail "refused: $good"
done
echo 'echo mine' >.git/hooks/pre-push
refused 'is not ours' ./dev hook
grep -q 'echo mine' .git/hooks/pre-push || fail "a hook of somebody else is gone"
rm .git/hooks/pre-push

# The changelog.
refused 'usage' ./dev changelog
refused 'CMakeLists.txt says version 1.2.0' ./dev changelog 1.3.0
./dev changelog 1.2.0 2>/dev/null
diff -u - CHANGELOG.md <<TEXT
# Changes

What changed.

## 1.2.0 ($(date -u +%F))

- cli: A new flag.
- fleet: Holds end in time.

## 1.1.0 (2026-01-01)

- cli: old
TEXT
[ "$(ls changes)" = README.md ] || fail "notes are left: $(ls changes)"
git commit -qm 'release: 1.2.0'
refused 'already' ./dev changelog 1.2.0
