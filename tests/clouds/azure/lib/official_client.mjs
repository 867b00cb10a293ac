// Microsoft's own clients, for an Azure of ours. They repeat nothing by themselves: a test sees each answer.
import { createRequire } from 'node:module';

import { subscription } from './catalogue.mjs';

const require = createRequire(import.meta.url);
const clients = {
  compute: require('@azure/arm-compute').ComputeManagementClient,
  network: require('@azure/arm-network').NetworkManagementClient,
  resources: require('@azure/arm-resources').ResourceManagementClient,
};

export function officialClient(name, fake, { token = fake.identities.grant('tests').access_token } = {}) {
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const client = new clients[name](credential, subscription, { endpoint: fake.url, allowInsecureConnection: true, retryOptions: { maxRetries: 0 } });
  // The client sends tokens over TLS only, and this Azure has none.
  client.pipeline.removePolicy({ name: 'bearerTokenAuthenticationPolicy' });
  client.pipeline.addPolicy({
    name: 'token',
    sendRequest(request, next) {
      request.headers.set('Authorization', `Bearer ${token}`);
      return next(request);
    },
  });
  return client;
}
