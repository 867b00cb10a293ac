# shellcheck shell=bash
start-fleet
muster lease --pool build -- true
mkdir -p ~/root/etc/muster
(umask 077 && echo 0123456789abcdef0123456789abcdef >~/root/etc/muster/webhook-secret && echo secret >~/root/etc/muster/amqp-password)
export TOKEN
TOKEN=$(cat ~/.local/state/muster/admin-token)
