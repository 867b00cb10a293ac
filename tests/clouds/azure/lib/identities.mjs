// Who may call this Azure: clients with secrets, certificates and federated tokens, managed identities, and the access tokens that they get.
import { createVerify, randomBytes, X509Certificate, createHash } from 'node:crypto';

import { subscription, tenant } from './catalogue.mjs';
import { Refusal, TokenRefusal } from './refusal.mjs';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');

export class Identities {
  tokens = new Map(); // access token -> {client, ends}
  clients = new Map(); // client id -> {secret, certificate (PEM), federated: the token of another identity provider}
  denied = new Set(); // actions
  allowed = undefined; // a list of actions: everything else is denied; "*" at the end fits all that begin so

  constructor(now) {
    this.now = now;
    this.client = { id: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee', secret: 'a~secret.that-only~tests_know' };
    this.clients.set(this.client.id, { secret: this.client.secret });
  }

  grant(client, seconds = 3600) {
    const token = `${part({ typ: 'JWT', alg: 'RS256' })}.${part({ tid: tenant, appid: client, nonce: randomBytes(9).toString('hex') })}.${randomBytes(32).toString('base64url')}`;
    this.tokens.set(token, { client, ends: this.now() + seconds * 1000 });
    return { token_type: 'Bearer', expires_in: seconds - 1, ext_expires_in: seconds - 1, access_token: token };
  }

  // POST /<tenant>/oauth2/v2.0/token
  exchange(path, form, audience, url) {
    const [, asked] = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(path);
    if (asked !== tenant) throw new TokenRefusal('invalid_request', 90002, `Tenant '${asked}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.`);
    if (form.get('grant_type') !== 'client_credentials') throw new TokenRefusal('unsupported_grant_type', 70003, `The app requested an unsupported grant type '${form.get('grant_type')}'.`);
    if (!audience.some(known => form.get('scope') === `${known.replace(/\/$/, '')}/.default` || form.get('scope') === `${known}/.default`))
      throw new TokenRefusal('invalid_scope', 70011, `The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' is not valid. The scope ${form.get('scope')} is not valid.`);
    const id = form.get('client_id');
    const client = this.clients.get(id);
    if (!client) throw new TokenRefusal('unauthorized_client', 700016, `Application with identifier '${id}' was not found in the directory.`);
    if (form.has('client_secret')) {
      if (!client.secret || form.get('client_secret') !== client.secret)
        throw new TokenRefusal('invalid_client', 7000215, `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${id}'.`, 401);
    } else {
      if (form.get('client_assertion_type') !== assertionType) throw new TokenRefusal('invalid_request', 900144, `The request body must contain the following parameter: 'client_assertion' or 'client_secret'.`);
      this.#checkAssertion(id, client, form.get('client_assertion') ?? '', url);
    }
    return this.grant(id);
  }

  #checkAssertion(id, client, assertion, url) {
    if (client.federated !== undefined) {
      if (assertion !== client.federated) throw new TokenRefusal('invalid_client', 700213, `No matching federated identity record found for presented assertion subject.`, 401);
      return;
    }
    const bad = (number, why) => new TokenRefusal('invalid_client', number, why, 401);
    const [head, body, signature] = assertion.split('.');
    let header;
    let claims;
    try {
      header = JSON.parse(Buffer.from(head, 'base64url'));
      claims = JSON.parse(Buffer.from(body, 'base64url'));
    } catch {
      throw bad(50027, 'JWT token is invalid or malformed.');
    }
    if (!client.certificate) throw bad(700027, 'The certificate is not registered on the application.');
    const certificate = new X509Certificate(client.certificate);
    const prints = ['sha1', 'sha256'].map(name => createHash(name).update(certificate.raw).digest('base64url'));
    if (!['RS256', 'PS256'].includes(header.alg)) throw bad(5002738, `Invalid JWT token. '${header.alg}' is not a supported signature algorithm.`);
    if ((header.x5t && header.x5t !== prints[0]) || (header['x5t#S256'] && header['x5t#S256'] !== prints[1]) || (!header.x5t && !header['x5t#S256'])) throw bad(700027, 'The certificate with identifier used to sign the client assertion is not registered on application.');
    if (!createVerify('RSA-SHA256').update(`${head}.${body}`).verify(certificate.publicKey, signature ?? '', 'base64url')) throw bad(700027, 'The client assertion contains an invalid signature.');
    if (claims.aud !== url || claims.iss !== id || claims.sub !== id || !claims.jti) throw bad(700023, `Client assertion audience claim does not match: ${claims.aud}, expected ${url}.`);
    const now = this.now() / 1000;
    if (!(claims.nbf <= now + 300) || !(claims.exp > now - 300)) throw bad(700024, 'Client assertion is not within its valid time range.');
  }

  holder(header) {
    const [, token] = /^Bearer (\S+)$/i.exec(header ?? '') ?? [];
    if (!token) throw new Refusal('AuthenticationFailed', 'Authentication failed. The \'Authorization\' header is missing.');
    const known = this.tokens.get(token);
    if (!known) throw new Refusal('InvalidAuthenticationToken', 'The access token is invalid.');
    if (known.ends <= this.now()) throw new Refusal('ExpiredAuthenticationToken', 'The access token expiry UTC time is earlier than current UTC time.');
    return known;
  }

  may(action) {
    const fits = pattern => pattern === action || (pattern.endsWith('*') && action.startsWith(pattern.slice(0, -1)));
    return !this.denied.has(action) && (this.allowed === undefined || this.allowed.some(fits));
  }

  authorize(caller, action, scope) {
    if (this.may(action)) return;
    throw new Refusal('AuthorizationFailed', `The client '${caller.client}' with object id '${caller.client}' does not have authorization to perform action '${action}' over scope '${scope}' or the scope is invalid. If access was recently granted, please refresh your credentials.`);
  }

  // What permissions list at a resource group.
  permissions() {
    return [{ actions: this.allowed ?? ['*'], notActions: [...this.denied], dataActions: [], notDataActions: [] }];
  }

  get subscription() {
    return subscription;
  }
}
