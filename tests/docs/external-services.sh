# shellcheck shell=bash
mkdir -p ~/root/etc/muster
(umask 077 && echo '{"token": "a"}' >~/root/etc/muster/proof.json)
# Free ports instead of those of the page.
for port in 8701 8702; do
  printf '%s\t%s\n' "$port" "$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')" >>~/replacements
done
