# shellcheck shell=bash
mkdir -p ~/root/etc/muster
(umask 077 && echo '{"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"}' >~/root/etc/muster/google-key.json)
openssl genrsa 2048 2>/dev/null | openssl rsa -pubout 2>/dev/null | awk 'BEGIN { printf "{\"k\": \"" } { printf "%s\\n", $0 } END { print "\"}" }' \
  >~/root/etc/muster/google-identity-keys.json
