# shellcheck shell=bash
# A pool that has launched, and a request that waits: names of the page that this host gives otherwise are replaced.
start-fleet
muster lease --team web --pool build -- true
printf 'lc-0123456789abcdef0123\t%s\n' "$(muster launch-config list build -o name | sed -n '1s|.*[/ ]||p')" >>~/replacements
echo '{"workerPoolId": "worker-manager/build"}' | muster api POST /teams/web/requests --file - >~/request.json
printf '10042\t%s\n' "$(sed -n 's/.*"requestId": *"\{0,1\}\([0-9]*\).*/\1/p' ~/request.json)" >>~/replacements
# And something that is held.
echo '{"workerPoolId": "worker-manager/spot"}' | muster api POST /teams/web/requests --file - >~/request.json
for _ in $(seq 100); do
  if muster hold list | grep ec2; then break; fi
  sleep 1
done
