// The metadata server of one instance, at a port of its own.
import http from 'node:http';

import { projectNumber, workerAccount } from './catalogue.mjs';

export class Metadata {
  requests = [];
  down = false;
  #server;
  #waiting = new Set();

  // `instance` is the fake's own record. `token`: makes the access token of the machine's account.
  constructor(instance, identities, token = () => identities.grant(workerAccount.email)) {
    Object.assign(this, { instance, identities, token });
  }

  async listen() {
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    this.host = `127.0.0.1:${this.#server.address().port}`;
    this.url = `http://${this.host}`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  // Those that wait for a change are answered.
  changed() {
    for (const answer of this.#waiting) answer();
    this.#waiting.clear();
  }

  #answer(request, response) {
    const url = new URL(request.url, 'http://metadata');
    this.requests.push(`${request.method} ${url.pathname}`);
    request.resume();
    const send = (status, text = '', type = 'application/text', more = {}) => response.writeHead(status, { 'Content-Type': type, 'Metadata-Flavor': 'Google', Server: 'Metadata Server for VM', ...more }).end(text);
    if (this.down) return request.socket.destroy();
    if (request.headers['x-forwarded-for']) return send(403);
    if (url.pathname === '/' && request.method === 'GET') return send(200, 'computeMetadata/\n');
    if (request.headers['metadata-flavor'] !== 'Google') return send(403, 'Missing required header "Metadata-Flavor": "Google"\n', 'text/html');
    if (request.method !== 'GET') return send(405);
    const tell = () => {
      const found = this.#content(url.pathname, url.searchParams);
      if (found === undefined) return send(404, '404 page not found', 'text/html');
      if (found.status) return send(found.status, found.text);
      const text = typeof found === 'string' ? found : JSON.stringify(found);
      return send(200, text, typeof found === 'string' ? 'application/text' : 'application/json', { ETag: this.#etag(text) });
    };
    const seen = url.searchParams.get('last_etag');
    const now = this.#content(url.pathname, url.searchParams);
    if (url.searchParams.get('wait_for_change') !== 'true' || typeof now !== 'string' || seen !== this.#etag(now)) return tell();
    const late = setTimeout(tell, Number(url.searchParams.get('timeout_sec') ?? 60) * 1000);
    late.unref();
    const early = () => {
      clearTimeout(late);
      tell();
    };
    this.#waiting.add(early);
    return response.on('close', () => {
      clearTimeout(late);
      this.#waiting.delete(early);
    });
  }

  #etag(text) {
    return Buffer.from(text).toString('hex').slice(0, 16).padEnd(16, '0');
  }

  #content(path, query) {
    const { instance } = this;
    const account = path.replace('/service-accounts/default/', `/service-accounts/${workerAccount.email}/`);
    const plain = {
      '/computeMetadata/v1/project/project-id': instance.project,
      '/computeMetadata/v1/project/numeric-project-id': projectNumber,
      '/computeMetadata/v1/instance/id': instance.id,
      '/computeMetadata/v1/instance/name': instance.name,
      '/computeMetadata/v1/instance/zone': `projects/${projectNumber}/zones/${instance.zone}`,
      '/computeMetadata/v1/instance/machine-type': `projects/${projectNumber}/machineTypes/${instance.type}`,
      '/computeMetadata/v1/instance/preempted': instance.preempted ? 'TRUE' : 'FALSE',
      '/computeMetadata/v1/instance/maintenance-event': instance.maintenance ?? 'NONE',
      '/computeMetadata/v1/instance/network-interfaces/0/ip': instance.address,
      '/computeMetadata/v1/instance/scheduling/preemptible': instance.market === 'SPOT' ? 'TRUE' : 'FALSE',
      [`/computeMetadata/v1/instance/service-accounts/${workerAccount.email}/email`]: workerAccount.email,
    };
    if (account in plain) return plain[account];
    const [, attribute] = /^\/computeMetadata\/v1\/instance\/attributes\/([^/]+)$/.exec(path) ?? [];
    if (attribute) return instance.attributes?.[attribute];
    if (account.endsWith('/token')) return this.token();
    if (!account.endsWith(`/${workerAccount.email}/identity`)) return undefined;
    if (!query.get('audience')) return { status: 400, text: 'non-empty audience parameter required\n' };
    return this.identities.identityToken(instance, query.get('audience'), query.get('format') === 'full' ? {} : { claims: { google: undefined, email: undefined, email_verified: undefined } });
  }
}
