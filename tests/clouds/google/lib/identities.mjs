// Who may call this Google: service accounts with keys, users with refresh tokens, federated identities, and the access tokens that they get.
import { createPublicKey, createSign, createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';

import { project, workerAccount } from './catalogue.mjs';
import { Refusal, TokenRefusal } from './refusal.mjs';

const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';
// Google's own, today's and the one that its library for Node still names.
const tokenAddresses = ['https://oauth2.googleapis.com/token', 'https://www.googleapis.com/oauth2/v4/token'];
const computeScopes = [cloudPlatform, 'https://www.googleapis.com/auth/compute'];

export function makeKeyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }), publicKey: publicKey.export({ type: 'spki', format: 'pem' }), keyId: randomBytes(20).toString('hex') };
}

export function signJwt(header, payload, privateKey) {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
}

let made; // keys take a moment: all of a process share them

export class Identities {
  tokens = new Map(); // access token -> {email, scopes, ends}
  denied = new Set(); // permissions
  allowed = undefined; // a list of permissions: everything else is denied
  refreshTokens = new Map([['1//a-refresh-token-that-only-tests-know', 'person@example.com']]);
  subjectTokens = new Map(); // a token of another identity provider -> {audience, email of the principal}
  impersonators = new Map(); // email of a service account -> emails of those that may act as it

  constructor(now) {
    this.now = now;
    made ??= { account: makeKeyPair(), identity: makeKeyPair() };
    this.identityKey = made.identity; // Google's own, which signs identity tokens
    this.accounts = new Map([[`muster@${project}.iam.gserviceaccount.com`, made.account]]);
  }

  // The text of a service account's key file, as Google hands it out.
  keyFile(tokenUri) {
    const [[email, key]] = this.accounts;
    return JSON.stringify({
      type: 'service_account', project_id: project, private_key_id: key.keyId, private_key: key.privateKey, client_email: email, client_id: '104729481726354821001', token_uri: tokenUri,
      auth_uri: 'https://accounts.google.com/o/oauth2/auth', universe_domain: 'googleapis.com',
    }, null, 2);
  }

  // The text of a user's credentials, as `gcloud auth application-default login` writes them.
  userFile() {
    return JSON.stringify({ type: 'authorized_user', client_id: 'a-client.apps.googleusercontent.com', client_secret: 'd-a-secret-of-the-client', refresh_token: [...this.refreshTokens.keys()][0] });
  }

  grant(email, scopes = [cloudPlatform], seconds = 3600) {
    const token = `ya29.${randomBytes(60).toString('base64url')}`;
    this.tokens.set(token, { email, scopes, ends: this.now() + seconds * 1000 });
    return { access_token: token, expires_in: seconds - 1, token_type: 'Bearer' };
  }

  // oauth2.googleapis.com/token
  exchange(form, tokenUri) {
    const grant = form.get('grant_type');
    if (grant === 'urn:ietf:params:oauth:grant-type:jwt-bearer') return this.#byAssertion(form.get('assertion') ?? '', tokenUri);
    if (grant !== 'refresh_token') throw new TokenRefusal('unsupported_grant_type', `Invalid grant_type: ${grant}`);
    const email = this.refreshTokens.get(form.get('refresh_token'));
    if (form.get('client_id') !== 'a-client.apps.googleusercontent.com' || form.get('client_secret') !== 'd-a-secret-of-the-client') throw new TokenRefusal('invalid_client', 'The OAuth client was not found.', 401);
    if (!email) throw new TokenRefusal('invalid_grant', 'Token has been expired or revoked.');
    return { ...this.grant(email), scope: cloudPlatform };
  }

  #byAssertion(assertion, tokenUri) {
    const [header, payload, signature] = assertion.split('.');
    const wrong = why => new TokenRefusal('invalid_grant', why);
    let head;
    let claims;
    try {
      head = JSON.parse(Buffer.from(header, 'base64url'));
      claims = JSON.parse(Buffer.from(payload, 'base64url'));
    } catch {
      throw wrong('Invalid JWT: Token must be a short-lived token.');
    }
    const key = this.accounts.get(claims.iss);
    if (!key) throw wrong('Invalid grant: account not found');
    if (head.alg !== 'RS256') throw wrong('Invalid JWT: alg must be RS256');
    if (head.kid !== undefined && head.kid !== key.keyId) throw wrong('Invalid JWT: no key with this kid');
    if (!createVerify('RSA-SHA256').update(`${header}.${payload}`).verify(key.publicKey, signature ?? '', 'base64url')) throw wrong('Invalid JWT Signature.');
    if (![tokenUri, ...tokenAddresses].includes(claims.aud)) throw wrong(`Invalid JWT: audience is ${claims.aud}`);
    const now = this.now() / 1000;
    if (!(claims.iat <= now + 300) || !(claims.exp > now - 300) || claims.exp - claims.iat > 3600)
      throw wrong('Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.');
    if (!claims.scope) throw new TokenRefusal('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
    return this.grant(claims.iss, claims.scope.split(' '));
  }

  // sts.googleapis.com/v1/token
  federate(form) {
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange') throw new TokenRefusal('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type')}`);
    if (form.get('requested_token_type') !== 'urn:ietf:params:oauth:token-type:access_token') throw new TokenRefusal('invalid_request', 'Invalid requested_token_type');
    const known = this.subjectTokens.get(form.get('subject_token'));
    if (!known || known.audience !== form.get('audience')) throw new TokenRefusal('invalid_grant', 'The subject token is not valid for this audience.');
    if (!form.get('scope')) throw new TokenRefusal('invalid_scope', 'A scope is required.');
    return { ...this.grant(known.email, form.get('scope').split(' ')), issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' };
  }

  // iamcredentials.googleapis.com: a token of another service account.
  impersonate(caller, target, { scope = [], lifetime = '3600s', delegates = [], ...unknown }) {
    if (Object.keys(unknown).length) throw new Refusal('badRequest', `Invalid JSON payload received. Unknown name "${Object.keys(unknown)[0]}": Cannot find field.`);
    if (!this.impersonators.get(target)?.includes(caller.email) || delegates.length) throw new Refusal('insufficientPermissions', 'Permission \'iam.serviceAccounts.getAccessToken\' denied on resource (or it may not exist).');
    if (!scope.length || !/^\d+s$/.test(lifetime)) throw new Refusal('badRequest', 'Request contains an invalid argument: scope and lifetime.');
    const seconds = parseInt(lifetime, 10);
    const { access_token: accessToken } = this.grant(target, scope, seconds);
    return { accessToken, expireTime: new Date(this.now() + seconds * 1000).toISOString().replace(/\.\d+/, '') };
  }

  // Who the header's token belongs to.
  holder(header) {
    const token = this.tokens.get(/^Bearer (\S+)$/i.exec(header ?? '')?.[1]);
    if (!token || token.ends <= this.now())
      throw new Refusal('authError', 'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.', { location: 'Authorization', locationType: 'header' });
    return token;
  }

  may(caller, permission) {
    return !this.denied.has(permission) && (this.allowed === undefined || this.allowed.includes(permission));
  }

  authorize(caller, permission, resource) {
    if (!caller.scopes.some(scope => computeScopes.includes(scope))) throw new Refusal('insufficientPermissions', 'Request had insufficient authentication scopes.');
    if (permission && !this.may(caller, permission)) throw new Refusal('forbidden', `Required '${permission}' permission for '${resource}'`);
  }

  // Google's public keys, by kid.
  certificates() {
    const { n, e } = createPublicKey(this.identityKey.publicKey).export({ format: 'jwk' });
    return { keys: [{ kid: this.identityKey.keyId, kty: 'RSA', alg: 'RS256', use: 'sig', n, e }] };
  }

  // What the metadata server of an instance signs for it. `claims`, `machine` and `header`: what a test wants to be otherwise.
  identityToken(instance, audience, { claims = {}, machine = {}, header = {}, key = this.identityKey } = {}) {
    const now = Math.floor(this.now() / 1000);
    return signJwt({ alg: 'RS256', kid: key.keyId, typ: 'JWT', ...header }, {
      aud: audience, azp: workerAccount.uniqueId, email: workerAccount.email, email_verified: true, exp: now + 3600, iat: now, iss: 'https://accounts.google.com', sub: workerAccount.uniqueId,
      google: {
        compute_engine: {
          project_id: instance.project, project_number: 739172048511, zone: instance.zone, instance_id: instance.id, instance_name: instance.name,
          instance_creation_timestamp: Math.floor(instance.created / 1000), ...machine,
        },
      },
      ...claims,
    }, key.privateKey);
  }
}
