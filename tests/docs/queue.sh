# shellcheck shell=bash
start-fleet
printf '#!/bin/sh\necho "built on $MUSTER_WORKER_ID"\n' >build.sh
mkdir ~/programs
printf '#!/bin/sh\necho "$@"\n' >~/programs/ssh
chmod +x build.sh ~/programs/ssh
PATH=$HOME/programs:$PATH
for name in lab next; do
  python3 -c 'import base64, os; b = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + os.urandom(32); print("ssh-ed25519", base64.b64encode(b).decode(), "key")' >$name.pub
done
# Both workers of `build` are leased, and a third request waits; the page has another number for it. Times of an earlier lease make an ETA.
ask() { echo "{\"workerPoolId\": \"worker-manager/build\", \"heartbeatSeconds\": 600}" | muster api POST "/teams/$1/requests" --file -; }
muster lease --pool build -- true
ask main >/dev/null
ask main >/dev/null
for _ in $(seq 100); do
  if [ "$(muster request list --json | grep -c '"state": "held"')" = 2 ]; then break; fi
  sleep 1
done
waiting=$(ask web | sed -n 's/.*"requestId": *"\([0-9]*\).*/\1/p')
printf '10042\t%s\n10012\t%s\n' "$waiting" "$waiting" >>~/replacements
