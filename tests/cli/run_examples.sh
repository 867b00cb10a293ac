#!/usr/bin/env bash
# Runs the examples of a page: a fence "```toml NAME" (any language, then a file's name) is written to that file, and in
# a "```console" fence each line "$ command" is run and must print exactly the lines below it. A page's examples share
# one folder, in order.
set -u
if [ $# -ne 2 ]; then echo "usage: $0 PATH-TO-MUSTER PAGE" >&2; exit 2; fi
muster=$(realpath "$1") page=$(realpath "$2")
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/here"; ln -s "$muster" "$work/bin/muster"
export PATH="$work/bin:$PATH" LC_ALL=C.UTF-8 HOME="$work" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git config --global init.defaultBranch main
cd "$work/here" || exit 1

ran=0 failed=0 line_number=0 mode=text target="" command="" expected="" command_line=0
finish() {
  if [ -z "$command" ]; then return; fi
  ran=$((ran + 1))
  local actual; actual=$(bash -c "$command" 2>&1 < /dev/null)
  if [ "$actual" != "${expected%$'\n'}" ]; then
    failed=$((failed + 1))
    printf '%s:%d: $ %s\n' "$page" "$command_line" "$command"
    diff -u --label expected --label actual <(printf '%s\n' "${expected%$'\n'}") <(printf '%s\n' "$actual")
  fi
  command="" expected=""
}
while IFS= read -r line || [ -n "$line" ]; do
  line_number=$((line_number + 1))
  case $mode in
    text)
      if [ "$line" = '```console' ]; then mode=console
      elif [[ $line =~ ^'```'[a-z]+\ ([A-Za-z0-9./_-]+)$ ]]; then
        mode=file target=${BASH_REMATCH[1]}
        mkdir -p "$(dirname "$target")"; : > "$target"
      elif [[ $line = '```'* ]]; then mode=other
      fi ;;
    file) if [ "$line" = '```' ]; then mode=text; else printf '%s\n' "$line" >> "$target"; fi ;;
    other) if [ "$line" = '```' ]; then mode=text; fi ;;
    console)
      if [ "$line" = '```' ]; then finish; mode=text
      elif [[ $line = '$ '* ]]; then finish; command=${line#'$ '} command_line=$line_number
      else expected+="$line"$'\n'
      fi ;;
  esac
done < "$page"
echo "$ran commands, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" = 0 ]
