# shellcheck shell=bash
mkdir -p ~/root/etc/muster
(umask 077 && echo secret >~/root/etc/muster/mail-password && echo https://chat.example.com/1 >~/root/etc/muster/chat-url)
