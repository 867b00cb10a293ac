// The instance metadata service (IMDSv2) of one instance, at a port of its own.
import { randomBytes } from 'node:crypto';
import http from 'node:http';

export class Imds {
  #tokens = new Map(); // token -> when it ends
  #server;

  // `instance` is the fake's own record: a notice in it is seen at once. `role`: {name, credentials()} of the machine.
  constructor(instance, documents, now, role) {
    Object.assign(this, { instance, documents, now, role });
    this.requests = [];
    this.down = false;
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

  // AWS revokes nothing, but tokens do not survive a stop of the machine.
  forgetTokens() {
    this.#tokens.clear();
  }

  #answer(request, response) {
    const { pathname } = new URL(request.url, 'http://imds');
    this.requests.push(`${request.method} ${pathname}`);
    request.resume();
    const send = (status, text = '', type = 'text/plain') => {
      response.writeHead(status, { 'Content-Type': type, Server: 'EC2ws' });
      response.end(text);
    };
    if (this.down) return request.socket.destroy();
    if (request.headers['x-forwarded-for']) return send(403);
    if (pathname === '/latest/api/token') return this.#token(request, send);
    if (request.method !== 'GET') return send(405);
    const token = request.headers['x-aws-ec2-metadata-token'];
    if (token === undefined ? this.instance.tokensRequired : !(this.#tokens.get(token) > this.now())) return send(401);
    const text = this.#content(pathname.replace(/\/+$/, ''));
    return text === undefined ? send(404, '<?xml version="1.0" encoding="iso-8859-1"?><html><body><h1>404 - Not Found</h1></body></html>', 'text/html') : send(200, text);
  }

  #token(request, send) {
    if (request.method !== 'PUT') return send(405);
    const seconds = Number(request.headers['x-aws-ec2-metadata-token-ttl-seconds']);
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > 21600) return send(400);
    const token = `${randomBytes(40).toString('base64url')}==`;
    this.#tokens.set(token, this.now() + seconds * 1000);
    return send(200, token);
  }

  #content(path) {
    const { instance } = this;
    const text = this.documents.textOf(instance);
    const plain = {
      '/latest/meta-data/instance-id': instance.id,
      '/latest/meta-data/instance-type': instance.type,
      '/latest/meta-data/ami-id': instance.image,
      '/latest/meta-data/ami-launch-index': String(instance.index),
      '/latest/meta-data/local-ipv4': instance.address,
      '/latest/meta-data/placement/availability-zone': instance.zone,
      '/latest/meta-data/placement/region': instance.region,
      '/latest/meta-data/instance-life-cycle': instance.market === 'spot' ? 'spot' : 'on-demand',
      '/latest/dynamic/instance-identity/document': text,
      '/latest/user-data': instance.userData?.toString(),
      '/latest/meta-data/spot/instance-action': instance.notice && JSON.stringify(instance.notice),
      '/latest/meta-data/events/recommendations/rebalance': instance.rebalance && JSON.stringify(instance.rebalance),
    };
    if (path in plain) return plain[path];
    if (path === '/latest/dynamic/instance-identity/signature') return this.documents.signature(text);
    if (path === '/latest/dynamic/instance-identity/rsa2048') return this.documents.pkcs7(text);
    return this.role && this.#roleContent(path);
  }

  #roleContent(path) {
    const folder = '/latest/meta-data/iam/security-credentials';
    if (path === folder) return this.role.name;
    if (path !== `${folder}/${this.role.name}`) return undefined;
    const made = this.role.credentials();
    return JSON.stringify({
      Code: 'Success', LastUpdated: new Date(this.now()).toISOString(), Type: 'AWS-HMAC', AccessKeyId: made.accessKeyId,
      SecretAccessKey: made.secretAccessKey, Token: made.sessionToken, Expiration: new Date(made.expiration).toISOString(),
    });
  }
}
