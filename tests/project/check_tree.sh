#!/usr/bin/env bash
# Rules of this project that no compiler knows. Prints every breach and fails if there is one.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

git() { command git -c safe.directory='*' "$@"; } # root may check somebody else's tree
git ls-files >/dev/null                           # without git nothing below would find anything

longest=450
failed=0

# breach <what> <lines>: reports the lines if there are any.
breach() {
  [ -n "$2" ] || return 0
  printf '%s:\n%s\n' "$1" "$2" >&2
  failed=1
}

# in_tree <pattern> [paths]: where the tracked files, without this one, have the pattern.
in_tree() {
  local pattern=$1
  shift
  git grep -nIE "$pattern" -- "$@" ':!tests/project/check_tree.sh' || true
}

cpp=('*.cpp' '*.hpp' '*.h')

breach "unfinished work belongs into the issue tracker" "$(in_tree '\b(TODO|FIXME|XXX|HACK)\b')"
breach "longer than $longest lines; one idea per file" "$(
  git ls-files -- "${cpp[@]}" '*.cmake' '*.sh' '*.py' dev .ci | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$longest" ] || echo "$file: $lines"
  done
)"
breach "a header begins with what it is for and #pragma once" \
  "$(git ls-files -- '*.hpp' | xargs -r grep -L '^#pragma once$' || true)"
breach "a name that says nothing" "$(
  git ls-files | grep -iE '(^|/|_)(manager|helpers?|utils?|misc|common)\.(cpp|hpp)$' || true
  in_tree '\b(class|struct) \w*(Manager|Helper|Util)\b' "${cpp[@]}"
)"
breach "rounds numbers wrongly; use muster/json.hpp" \
  "$(in_tree 'boost::json::(parse|serialize)\(' "${cpp[@]}")"
breach "overflows the stack on long strings; use RE2" "$(in_tree 'std::regex|#include <regex>' "${cpp[@]}")"
breach "miscompiled by g++ 12" "$(in_tree '\bco_(await|yield|return)\b' "${cpp[@]}")"
# One millisecond between two looks in a bounded wait is waiting for an event; bad plugins are slow on purpose.
breach "a test waits for an event, not for time" "$(
  in_tree 'sleep_(for|until)\(|\busleep\(' 'tests/*.cpp' 'tests/*.hpp' ':!tests/bad_plugins/*' |
    grep -v 'sleep_for(1ms)' || true
)"
# A line of one blank is an empty line of a diff that a page shows.
breach "trailing white space" "$(in_tree '([^[:blank:]][[:blank:]]+|[[:blank:]]{2,})$' "${cpp[@]}" '*.md' '*.cmake' '*CMakeLists.txt' dev '.ci/*')"
breach "a public header of the plugin API that reaches outside of it" \
  "$(in_tree '#include "' 'plugin-api/include/*')"

# Words that make a reader stop.
words='(whoever|mend(s|ed|ing)?|speaks? against|stands? twice|thereof|therein|herein|heretofore)'
breach "an old-fashioned word; write it plainly" "$(in_tree "\\b$words\\b" ':!LICENSE')"
breach "a note about a change is changes/<area>-<slug>.md, one or two sentences without a heading" "$(
  git ls-files -- changes | grep -vE '^changes/(README|[a-z_]+-[a-z0-9-]+)\.md$' || true
  git ls-files -- 'changes/*-*.md' | while read -r file; do
    if [ ! -s "$file" ] || [ "$(wc -l <"$file")" -gt 6 ] || grep -qE '^#' "$file"; then echo "$file"; fi
  done
)"

# A README that walks folders has each of them once: "| `workers/` | ..." or "| `fleet/workers/` | ...".
folders_below() { (cd "$1" && git ls-files) | sed -nE 's|^([^./][^/]*)/.*|\1|p' | sort -u; }
breach "folders that their README does not list exactly once" "$(
  while read -r readme folder prefix; do
    for name in $(folders_below "$folder"); do
      count=$(grep -cF "| \`$prefix$name/\` |" "$readme" || true)
      [ "$count" = 1 ] || echo "$readme: $prefix$name/ $count times"
    done
  done <<<"README.md .
lib/README.md lib
host/README.md host
host/README.md host/fleet fleet/"
)"

exit "$failed"
