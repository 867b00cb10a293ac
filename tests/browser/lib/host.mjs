// A musterd with pools of a simulated cloud and of this machine, and with names that are an attack.
import { createHmac } from 'node:crypto';

import { Musterd } from '../../support/node/musterd.mjs';
import { until } from '../../support/node/waiting.mjs';

const secret = 'what machines of the simulated cloud know';
export const evil = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

const configuration = `
workerConfigurations = "workers"
[log]
level = "info"
format = "text"
[http]
accessLog = false
[providers.sim]
plugin = "provider/simulated"
launch = { perSecond = 2000, burst = 2000, perCall = 100 }
[providers.sim.config]
seed = 7
secret = "${secret}"
regions = [{ name = "eu-1", zones = ["eu-1a"] }]
instanceTypes = [{ name = "small", capacity = 1, pricePerHour = 0.05, perZone = 150000 }, { name = "rare", capacity = 1, pricePerHour = 0.05, perZone = 1 }]
boot = { minSeconds = 0, maxSeconds = 0 }
shutdownSeconds = 0
[providers.broken]
plugin = "provider/that-nobody-installed"
[strategies.estimator]
plugin = "strategy/estimator"
[strategies.classic]
plugin = "strategy/classic"
[fleet]
listEvery = "1s"
`;

export class Host extends Musterd {
  // `workers`: worker configurations by file name.
  static async start({ workers = {}, more = '' } = {}) {
    const host = new Host('browser');
    try {
      host.file('workers/.keep', '');
      for (const [name, text] of Object.entries(workers)) host.file(`workers/${name}`, text);
      host.file('muster.toml', Musterd.head(['provider/simulated', 'strategy/classic', 'strategy/estimator']) + configuration + more);
      await host.run();
      await until('the simulated cloud is there', async () => {
        host.mustLive();
        const { providers } = await (await host.own('providers')).json();
        return providers.find(({ providerId }) => providerId === 'sim')?.up;
      });
    } catch (error) {
      await host.end();
      throw error;
    }
    return host;
  }

  async json(path, options = {}) {
    const answer = await this.own(path, options);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  change(method, path, body) {
    return this.json(path, { method, body: JSON.stringify(body ?? {}) });
  }

  async pool(id, { minCapacity = 0, maxCapacity = 5, description = 'made by a test', owner = 'team@example.com', instanceType = 'small' } = {}) {
    await this.change('PUT', `pools/${encodeURIComponent(id)}`, {
      providerId: 'sim', description, owner, emailOnError: false,
      config: { minCapacity, maxCapacity, scalingRatio: 1,
        launchConfigs: [{ region: 'eu-1', instanceTypes: [instanceType], workerConfig: {} }] },
    });
  }

  // A token with these scopes.
  async tokenFor(name, scopes, more = {}) {
    const { token } = await this.change('PUT', `clients/${name}`, { kind: 'token', scopes, ...more });
    return token;
  }

  // Registers a machine of the simulated cloud, so that it runs.
  async register({ workerPoolId, workerGroup, workerId }) {
    const token = createHmac('sha256', secret).update([workerPoolId, workerGroup, workerId].join('\n')).digest('hex');
    const answer = await fetch(`${this.rootUrl}/api/worker-manager/v1/worker/register`, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ workerPoolId, providerId: 'sim', workerGroup, workerId, workerIdentityProof: { token } }),
    });
    if (!answer.ok) throw new Error(`register: ${answer.status} ${await answer.text()}`);
  }

  async workers(pool, count) {
    return until(`${pool} has ${count} instances`, async () => {
      const { workers } = await this.json(`pools/${encodeURIComponent(pool)}/workers`);
      const known = workers.filter(({ workerId }) => workerId);
      return known.length >= count && known;
    });
  }
}
