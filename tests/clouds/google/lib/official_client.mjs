// Google's own client, for a Google of ours. It repeats nothing by itself: a test sees each answer.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const compute = require('@google-cloud/compute');
export const auth = require('google-auth-library');
const { GoogleAuth, OAuth2Client } = auth;

// `token`: an access token that the fake has granted.
export function officialClient(name, fake, { token = fake.identities.grant('person@example.com').access_token } = {}) {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: token });
  const { hostname, port } = new URL(fake.url);
  const client = new compute[`${name}Client`]({ fallback: 'rest', protocol: 'http', apiEndpoint: hostname, port: Number(port), auth: new GoogleAuth({ authClient, projectId: 'muster-tests' }) });
  return client;
}

// One call, with neither repetition nor pages of its own.
export const once = { autoPaginate: false, retry: { retryCodes: [], backoffSettings: { initialRetryDelayMillis: 1, retryDelayMultiplier: 1, maxRetryDelayMillis: 1, initialRpcTimeoutMillis: 10_000, maxRpcTimeoutMillis: 10_000, rpcTimeoutMultiplier: 1, totalTimeoutMillis: 10_000 } } };
