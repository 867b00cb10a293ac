# shellcheck shell=bash
mkdir -p ~/root/etc/muster ~/root/run
(umask 077 && echo secret >~/root/etc/muster/azure-secret && echo t >~/root/run/token)
openssl req -x509 -newkey rsa:2048 -nodes -keyout ~/key.pem -out ~/root/etc/muster/azure-intermediates.pem -subj /CN=a 2>/dev/null
(umask 077 && cat ~/key.pem ~/root/etc/muster/azure-intermediates.pem >~/root/etc/muster/azure-client.pem)
