// The instance metadata service of one machine, at a port of its own.
import http from 'node:http';

import { group, subscription, tenant } from './catalogue.mjs';

export class Imds {
  requests = [];
  down = false;
  #server;

  // `machine` is the fake's own record. `token`: makes the access token of the machine's managed identity, if it has one.
  constructor(machine, documents, token) {
    Object.assign(this, { machine, documents, token });
  }

  async listen() {
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, 'http://imds');
    this.requests.push(`${request.method} ${pathname}`);
    request.resume();
    const send = (status, document, type = 'application/json; charset=utf-8') => response.writeHead(status, { 'Content-Type': type, Server: 'IMDS/150.870.65.1854' }).end(typeof document === 'string' ? document : JSON.stringify(document));
    if (this.down) return request.socket.destroy();
    if (request.headers.metadata !== 'true' || request.headers['x-forwarded-for']) return send(400, { error: 'Bad request. Required metadata header not specified' });
    if (!/^20\d\d-\d\d-\d\d$/.test(searchParams.get('api-version') ?? '')) return send(400, { error: 'Bad request. api-version is invalid or was not specified in the request.', 'newest-versions': ['2023-07-01', '2021-12-13', '2021-11-15'] });
    if (request.method === 'POST' && pathname === '/metadata/scheduledevents') return send(200, '');
    if (request.method !== 'GET') return send(405, { error: 'Method not allowed' });
    const found = this.#content(pathname.replace(/\/+$/, ''), searchParams);
    if (found === undefined) return send(404, { error: 'Not found' });
    return send(found.status ?? 200, found.status ? found.document : found);
  }

  #compute() {
    const { machine } = this;
    return {
      azEnvironment: 'AzurePublicCloud', location: machine.location, name: machine.name, resourceGroupName: group, subscriptionId: subscription, vmId: machine.vmId, vmSize: machine.size?.name ?? '', zone: machine.zone ?? '',
      priority: machine.market ?? '', evictionPolicy: machine.body?.properties.evictionPolicy ?? '', osType: 'Linux', resourceId: `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines/${machine.name}`,
      tags: Object.entries(machine.tags).map(pair => pair.join(':')).join(';'), tagsList: Object.entries(machine.tags).map(([name, value]) => ({ name, value })), userData: machine.userData ?? '', customData: '',
    };
  }

  #content(path, query) {
    if (path === '/metadata/instance/compute') return this.#compute();
    if (path === '/metadata/instance') return { compute: this.#compute(), network: { interface: [] } };
    if (path === '/metadata/attested/document') {
      const nonce = query.get('nonce') ?? undefined;
      if (nonce !== undefined && !/^\d{1,10}$/.test(nonce)) return { status: 400, document: { error: 'Bad request. The nonce must be a number of at most 10 digits.' } };
      return this.documents.attested(this.machine, nonce);
    }
    if (path === '/metadata/scheduledevents') return { DocumentIncarnation: this.machine.events.length, Events: this.machine.events };
    if (path !== '/metadata/identity/oauth2/token') return undefined;
    if (!query.get('resource')) return { status: 400, document: { error: 'invalid_request', error_description: 'Required query variable \'resource\' is missing' } };
    const made = this.token?.(query.get('client_id'));
    if (!made) return { status: 400, document: { error: 'invalid_request', error_description: 'Identity not found' } };
    return { access_token: made.access_token, client_id: query.get('client_id') ?? '', expires_in: String(made.expires_in), expires_on: String(Math.floor(Date.now() / 1000) + made.expires_in), resource: query.get('resource'), token_type: 'Bearer', tenant };
  }
}
