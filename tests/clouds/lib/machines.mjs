// The hardware behind the fake's instances: each gets a real muster-agent, which sees that instance's metadata, and loses it when the instance ends.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { programs, tie } from '../../support/node/musterd.mjs';

const shutdown = 2000; // milliseconds from the end of an instance to the end of its power

// It is idle until it is told to end.
const worker = `#!/bin/sh
trap 'echo "worker told to end"; exit 0' TERM
echo idle >"$MUSTER_REPORTS"
echo "worker runs as $MUSTER_WORKER_ID"
while :; do sleep 1000 & wait $!; done
`;

export class Machines {
  #agents = new Map(); // instance id -> {process, output, folder}
  #timer;

  // `fake` has instances.all by id, each with `ended`, and imds(id). `kind`: how the agent proves who it is.
  constructor(fake, folder, kind) {
    Object.assign(this, { fake, folder, kind });
    this.#timer = setInterval(() => this.#look(), 20);
  }

  agent(id) {
    return this.#agents.get(id);
  }

  #look() {
    for (const instance of this.fake.instances.all.values()) {
      const known = this.#agents.get(instance.id);
      if (instance.ended === undefined && !known) this.#start(instance);
      const off = instance.ended !== undefined && this.fake.now() - instance.ended > shutdown;
      if (off && known?.process?.exitCode === null) known.process.kill('SIGKILL');
    }
  }

  async #start(instance) {
    const folder = path.join(this.folder, instance.id);
    const agent = { folder, output: '', process: undefined };
    this.#agents.set(instance.id, agent);
    const { url } = await this.fake.imds(instance.id);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'worker'), worker, { mode: 0o700 });
    fs.writeFileSync(path.join(folder, 'agent.toml'), `folder = "state"
[identity]
kind = "${this.kind}"
metadataUrl = "${url}"
[timings]
retryMin = "50ms"
retryMax = "500ms"
idleCheck = "200ms"
interruptionCheck = "200ms"
[worker]
command = ["${path.join(folder, 'worker')}"]
stopGrace = "5s"
`, { mode: 0o600 });
    agent.process = spawn(path.join(programs, 'muster-agent'), ['--config', 'agent.toml'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [agent.process.stdout, agent.process.stderr]) stream.setEncoding('utf8').on('data', text => (agent.output += text));
    tie(agent.process);
  }

  close() {
    clearInterval(this.#timer);
    for (const { process } of this.#agents.values()) if (process?.exitCode === null) process.kill('SIGKILL');
  }
}
