#!/usr/bin/env bash
# Loads the completion scripts in real shells and asks them. zsh and fish are tried where they are installed.
set -euo pipefail
if [ $# != 1 ]; then
  echo "usage: $0 PATH-TO-MUSTER" >&2
  exit 2
fi
muster=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect <what> <wanted word> <words...>: the word is among them.
expect() {
  local what=$1 wanted=$2
  shift 2
  case " $(tr '\n' ' ' <<<"$*") " in
  *" $wanted "*) ;;
  *)
    echo "$what: no $wanted among: $*" >&2
    failed=1
    ;;
  esac
}

"$muster" completion bash >"$work/muster.bash"
# complete_bash <words...>: what bash offers for the last of them.
complete_bash() {
  # shellcheck disable=SC2016 # the other shell expands it
  env -i PATH=/usr/bin:/bin bash --norc -u -c '
    source "$1"
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _muster 2>/dev/null
    echo "${COMPREPLY[@]}"' bash "$work/muster.bash" "$@"
}
expect "bash: nouns" worker "$(complete_bash muster '')"
expect "bash: a noun that is begun" launch-config "$(complete_bash muster lau)"
expect "bash: verbs" pause "$(complete_bash muster pool '')"
expect "bash: options" --launch-config "$(complete_bash muster worker list --)"
expect "bash: choices" running "$(complete_bash muster worker list --state '')"
expect "bash: behind an option with a value" --sort "$(complete_bash muster worker list --pool list --s)"
expect "bash: an older spelling" --stats "$(complete_bash muster errors --)"
expect "bash: arguments" fish "$(complete_bash muster completion '')"
if [ -n "$(complete_bash muster pool lsit-nothing)" ]; then
  echo "bash: something is offered for a word that nothing begins with" >&2
  failed=1
fi

"$muster" completion zsh >"$work/_muster"
if command -v zsh >/dev/null; then
  zsh -n "$work/_muster"
  # shellcheck disable=SC2016
  offered=$(zsh -f -c '
    fpath=($1 $fpath)
    autoload -Uz compinit && compinit -u -d $1/dump
    source $1/_muster
    compadd() { local -a array; array=(${(P)@[-1]}); print -r -- $array; }
    _describe() { local -a array; array=(${(P)2}); print -r -- ${array%%:*}; }
    words=(muster worker "") CURRENT=3
    _muster
    words=(muster worker list --state "") CURRENT=5
    _muster' zsh "$work")
  expect "zsh: verbs" drain "$offered"
  expect "zsh: choices" running "$offered"
fi

"$muster" completion fish >"$work/muster.fish"
if command -v fish >/dev/null; then
  offered=$(HOME=$work fish --no-config -c "source $work/muster.fish; complete -C 'muster worker '; complete -C 'muster worker list --state '" |
    cut -f1)
  expect "fish: verbs" drain "$offered"
  expect "fish: choices" running "$offered"
fi

# Every manual page is without warnings.
"$muster" man --folder "$work/man"
for page in "$work"/man/*.1; do
  warnings=$(groff -man -ww -Tutf8 -Kutf8 "$page" 2>&1 >/dev/null) || true
  if [ -n "$warnings" ]; then
    echo "$page: $warnings" >&2
    failed=1
  fi
done
[ -e "$work/man/muster-pool.1" ] && [ -e "$work/man/muster.1" ]
exit $failed
