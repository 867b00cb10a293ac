# shellcheck shell=bash
mkdir -p ~/root/etc/muster ~/root/run
(umask 077 && printf '[default]\naws_access_key_id = a\naws_secret_access_key = b\n' >~/root/etc/muster/aws-credentials && echo t >~/root/run/token)
openssl req -x509 -newkey rsa:2048 -nodes -keyout ~/key.pem -out ~/root/etc/muster/xx-new-1.pem -subj /CN=a 2>/dev/null
