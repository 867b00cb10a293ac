// What every fake cloud has: a clock that can be wrong, settings, servers, a folder, and an end.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { listen } from './http.mjs';

export class FakeCloud {
  passedProxy = [];
  clockOffset = 0; // milliseconds that this cloud is ahead
  #servers = [];
  #timers = new Set();

  constructor(name, settings) {
    this.settings = settings;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), `muster-fake-${name}-`));
    this.now = () => Date.now() + this.clockOffset;
  }

  // Returns the port.
  async serve(server) {
    server.keepAliveTimeout = 60_000;
    this.#servers.push(server);
    return listen(server);
  }

  // Something that this cloud does by itself, unless it has ended before.
  later(milliseconds, act) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, milliseconds);
    timer.unref();
    this.#timers.add(timer);
  }

  count(action) {
    return this.calls.filter(call => call.action === action).length;
  }

  configure(settings) {
    for (const [key, value] of Object.entries(settings)) {
      if (!(key in this.settings)) throw new Error(`there is no setting ${key}; there are ${Object.keys(this.settings).join(', ')}`);
      this.settings[key] = value;
    }
  }

  async close() {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
