# shellcheck shell=bash
# A host whose store has two rows that cannot be read: workers in a state that there is not.
start-fleet
muster lease --pool default -- true
kill "$(muster status --json | sed -n 's/.*"pid": \([0-9]*\).*/\1/p' | head -1)"
for _ in $(seq 100); do
  if grep -q '"message":"stopped"' ~/musterd.log; then break; fi
  sleep 1
done
python3 - <<'END'
import os, sqlite3
store = sqlite3.connect(os.path.expanduser("~/.local/state/muster/muster.db"), isolation_level=None, timeout=10)
store.execute("UPDATE workers SET state = 'dreaming' WHERE workerPoolId = 'worker-manager/mac'")
END
rm ~/replacements
./dev run --config ~/fleet/host.toml
for name in https://muster.example.com https://staging.example.com; do
  printf '%s\t%s\n' $name "$(cat ~/.local/state/muster/address)" >>~/replacements
done
mkdir -p ~/root/etc/muster ~/root/srv/git ~/root/run/muster ~/root/var/lib/muster ~/root/usr/lib/builders/1
(umask 077 && echo 0123456789012345678901 | tee ~/root/etc/muster/taskcluster-token >~/root/etc/muster/ci-deploy)
echo '{"worker-manager/build": 12}' >~/root/run/muster/nightly.json
git init -q --bare ~/root/srv/git/workers.git
ln -s /bin/true ~/root/usr/lib/builders/1/run
muster lease --pool default -- sh -c 'echo "local/w-1	$MUSTER_WORKER_GROUP/$MUSTER_WORKER_ID"' >>~/replacements
