# shellcheck shell=bash
start-fleet
mkdir -p ~/root/usr/share/doc/muster-relay/examples
echo 0123456789012345678901 >~/token
printf 'install -m 600 /dev/null\tinstall -m 600 %s\n' ~/token >>~/replacements
sed "s|/etc/muster|$HOME/root/etc/muster|g" configs/relay.toml >~/root/usr/share/doc/muster-relay/examples/relay.toml
(cd ~/root/etc/muster && umask 077 && openssl req -x509 -newkey rsa:2048 -nodes -keyout relay.key -out relay.pem -subj /CN=relay.dc1.example.com 2>/dev/null)
cp ~/root/etc/muster/relay.pem ~/root/etc/muster/ca.pem
