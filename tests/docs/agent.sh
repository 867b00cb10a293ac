# shellcheck shell=bash
start-fleet
cat >~/root/etc/muster/agent.toml <<END
rootUrl = "http://127.0.0.1:8600"
workerPoolId = "worker-manager/mac"
providerId = "dc1"
workerGroup = "dc1"
workerId = "mac-01"
folder = "$HOME/agent"
identity = { kind = "staticSecret", secretFile = "secret" }
worker = { command = ["/bin/sleep", "600"] }
END
sed -i "s|http://127.0.0.1:8600|$(cat ~/.local/state/muster/address)|" ~/root/etc/muster/agent.toml
python3 - <<'END'
import json, os, tomllib
home = os.environ["HOME"]
document = tomllib.load(open(f"{home}/root/etc/muster/agent.toml", "rb"))
document.update(workerId="mac-02", folder=f"{home}/agent-2",
                identity={"kind": "staticSecret", "secretFile": f"{home}/root/etc/muster/secret"})
json.dump(document, open("agent.json", "w"))
END
mkdir -p ~/root/var/lib ~/root/usr/lib/muster
ln -s "$DOCS_SOURCE/agent/example-worker.sh" ~/root/usr/lib/muster/example-worker
cp -p ~/root/etc/muster/secret ~
openssl req -x509 -newkey rsa:2048 -nodes -keyout ~/key.pem -out ~/ca.pem -subj /CN=ca 2>/dev/null
if [ "$(id -u)" = 0 ]; then printf '"builder"\t"nobody"\n' >>~/replacements; else printf 'user = "builder"\t\n' >>~/replacements; fi
