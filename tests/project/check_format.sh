#!/usr/bin/env bash
# usage: check_format.sh [file...]
# The layout of C++ (clang-format) and mistakes in shell scripts (shellcheck), in the given or all tracked files.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

git() { command git -c safe.directory='*' "$@"; } # root may check somebody else's tree
for tool in clang-format-14 shellcheck; do
  command -v "$tool" >/dev/null || {
    echo "$tool is missing: ./dev packages test" >&2
    exit 1
  }
done

if [ $# -gt 0 ]; then files=("$@"); else mapfile -t files < <(git ls-files); fi
cpp=() shell=()
for file in "${files[@]}"; do
  [ -f "$file" ] || continue
  case $file in
  *.cpp | *.hpp | *.h | *.c)
    cpp+=("$file")
    continue
    ;;
  esac
  IFS= read -r first <"$file" 2>/dev/null || true
  if [[ $first =~ ^'#!'.*[/\ ](ba)?sh$ ]]; then shell+=("$file"); fi
done 2>/dev/null # bash complains of NUL bytes in pictures

failed=0
[ "${#cpp[@]}" -eq 0 ] || printf '%s\0' "${cpp[@]}" | xargs -0 -n 50 clang-format-14 --dry-run --Werror || failed=1
[ "${#shell[@]}" -eq 0 ] || shellcheck "${shell[@]}" || failed=1
exit "$failed"
