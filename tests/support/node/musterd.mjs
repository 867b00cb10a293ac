// A real musterd with a folder of its own, for tests in Node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { until } from './waiting.mjs';

export const programs = process.env.MUSTER_BIN;

// Kills the process with this one, if a test breaks off.
export function tie(child) {
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed);
  child.once('exit', () => process.off('exit', killed));
}

export class Musterd {
  output = '';
  #process;
  #ended;

  constructor(name) {
    assert.ok(programs, 'MUSTER_BIN must name the folder with musterd');
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), `muster-${name}-`));
  }

  // The beginning of a configuration: a free port, and the plugins of this build, or only some of them (`provider/aws`): it starts sooner with few.
  static head(plugins = ['']) {
    const folders = plugins.map(name => path.join(programs, '../lib/muster/plugins', name));
    return `listen = "127.0.0.1:0"\ndataDirectory = "data"\npluginFolders = ${JSON.stringify(folders)}\n`;
  }

  file(name, text, mode = 0o600) {
    const file = path.join(this.folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode });
    return file;
  }

  read(name) {
    try {
      return fs.readFileSync(path.join(this.folder, name), 'utf8').trim();
    } catch {
      return undefined;
    }
  }

  get pid() {
    return this.#process.pid;
  }
  get lives() {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  mustLive() {
    assert.ok(this.lives, `musterd ended by itself:\n${this.output.slice(-4000)}`);
  }

  // Starts it on the folder's muster.toml and waits until it is ready.
  async run({ environment = {} } = {}) {
    fs.rmSync(path.join(this.folder, 'data/address'), { force: true });
    this.#process = spawn(path.join(programs, 'musterd'), ['--config', 'muster.toml'], {
      cwd: this.folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream.setEncoding('utf8').on('data', text => (this.output += text));
    this.#ended = once(this.#process, 'exit');
    tie(this.#process);
    const address = await until('musterd says where it listens', () => {
      this.mustLive();
      return this.read('data/address');
    });
    this.rootUrl = address.startsWith('http') ? address : `http://${address}`;
    await until('musterd is ready', async () => {
      this.mustLive();
      const answer = await fetch(`${this.rootUrl}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
    this.token = this.read('data/admin-token');
  }

  // Muster's own API.
  async own(path_, options = {}) {
    return fetch(`${this.rootUrl}/api/muster/v1/${path_}`, {
      ...options,
      headers: { authorization: `Bearer ${this.token}`, ...options.headers },
    });
  }

  async stop() {
    this.#process.kill('SIGTERM');
    const [code] = await this.#ended;
    assert.equal(code, 0, this.output.slice(-4000));
  }

  async kill() {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  // Whatever happened, nothing of it is left.
  async end() {
    if (this.lives) {
      this.#process.kill('SIGTERM');
      const late = setTimeout(() => this.#process.kill('SIGKILL'), 10_000);
      await this.#ended;
      clearTimeout(late);
    }
    if (process.env.MUSTER_KEEP) return console.error(`kept: ${this.folder}`);
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
