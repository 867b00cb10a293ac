// A RabbitMQ of its own, as Debian packages it, in a folder of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import amqplib from 'amqplib';

import { until } from '../../support/node/waiting.mjs';

// The script behind the one in PATH, which would change to another user.
const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

const slowStart = 180_000; // on a machine that compiles at the same time

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise(resolve => server.close(resolve));
  return port;
}

export class RabbitMq {
  #processes = [];
  #output = '';

  static async start() {
    const broker = new RabbitMq();
    broker.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-rabbitmq-'));
    process.once('exit', () => fs.rmSync(broker.folder, { recursive: true, force: true }));
    try {
      await broker.#run();
    } catch (error) {
      await broker.end();
      error.message += `\n${broker.#output.slice(-4000)}`;
      throw error;
    }
    return broker;
  }

  #spawn(command, parameters, environment) {
    const child = spawn(command, parameters, {
      cwd: this.folder, env: { PATH: process.env.PATH, HOME: this.folder, ...environment }, stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (this.#output += text));
    child.on('error', error => (this.#output += error.message));
    // Tests that do not use it after all end without waiting for it, and leave nothing behind.
    for (const handle of [child, child.stdout, child.stderr]) handle.unref();
    process.once('exit', () => child.kill('SIGKILL'));
    this.#processes.unshift(child);
    return child;
  }

  // Erlang's name server would be started as a daemon that nobody ends; so it is ours, in the foreground.
  async #run() {
    const [port, distribution, names] = [await freePort(), await freePort(), await freePort()];
    const inFolder = name => path.join(this.folder, name);
    fs.writeFileSync(inFolder('enabled_plugins'), '[].');
    fs.writeFileSync(inFolder('empty.conf'), '');
    this.#spawn('epmd', ['-port', String(names), '-address', '127.0.0.1'], {});
    const child = this.#spawn(program, [], {
      ERL_EPMD_PORT: String(names),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_ALLOW_INPUT: 'true', // no shell between us and it
      RABBITMQ_CONF_ENV_FILE: inFolder('empty.conf'),
      RABBITMQ_CONFIG_FILE: inFolder('empty'),
      RABBITMQ_ENABLED_PLUGINS_FILE: inFolder('enabled_plugins'),
      RABBITMQ_LOG_BASE: inFolder('log'),
      RABBITMQ_LOGS: '-',
      RABBITMQ_MNESIA_BASE: inFolder('mnesia'),
      RABBITMQ_NODENAME: `muster${port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(distribution),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 -noinput',
    });
    this.address = `amqp://guest@127.0.0.1:${port}/`;
    this.password = 'guest';
    await until('RabbitMQ takes connections', async () => {
      if (child.exitCode !== null) throw new Error('RabbitMQ ended by itself');
      return amqplib.connect(`amqp://guest:guest@127.0.0.1:${port}/`).then(
        connection => (this.connection = connection),
        () => undefined,
      );
    }, slowStart);
  }

  async end() {
    await this.connection?.close().catch(() => {});
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null || !child.pid) continue;
      child.ref();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
