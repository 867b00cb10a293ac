// Answers that are none of AWS's, and configurations with which AWS cannot be reached: a clear sentence each; the host goes on, and nothing
// is launched twice.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { credentialsText, Fleet } from './lib/fleet.mjs';

describe('bad answers to a launch', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ values: { maxCapacity: 1 }, provider: () => ({ maxAnswerBytes: 1 << 20 }) })));
  after(() => fleet.end());
  beforeEach(() => fleet.own('holds/ec2', { method: 'DELETE' }));

  const answers = [
    ['html', /web page.*502 Bad Gateway|502/s],
    ['login', /web page.*Please log in/s],
    ['redirect', /redirect|302/],
    ['empty', /nothing|empty/],
    ['big', /larger|bytes|MB|MiB/],
    ['truncated', /ends in the middle|incomplete|truncated|XML/],
    ['refuse', /connection|closed|no answer/i],
    ['cut', /connection|closed|no answer/i],
  ];
  for (const [kind, words] of answers)
    it(`${kind}_is_told_and_then_the_launch_succeeds_once`, async () => {
      const before_ = fleet.fake.instances.history.length;
      fleet.fake.faults.add({ kind, action: 'RunInstances' });
      fleet.demand(1);
      await fleet.until(`the host tells of ${kind}`, async () => words.test(JSON.stringify((await fleet.get('errors')).errors ?? [])) || words.test(fleet.output));
      fleet.fake.faults.clear();
      await fleet.own('holds/ec2', { method: 'DELETE' });
      await fleet.until('one worker, one machine', async () => (await fleet.workers()).length === 1 && fleet.living().length === 1);
      assert.equal(fleet.fake.instances.history.length, before_ + 1, 'launched once');
      const [worker] = await fleet.workers();
      fleet.demand(0);
      await fleet.own(`pools/worker-manager%2Fbuild/workers/${worker.workerGroup}/${worker.workerId}`, { method: 'DELETE' });
      await fleet.until('it is terminated', async () => fleet.living().length === 0 && (await fleet.workers()).length === 0);
    });
});

describe('an AWS that cannot be reached', () => {
  let fleet;
  const others = {
    dead: fake => ({ endpoints: { ec2: 'http://127.0.0.1:1', sts: fake.url } }),
    untrusted: fake => ({ endpoints: { ec2: fake.tlsUrl, sts: fake.url } }),
    wrongkey: (fake, fleet_) => ({ credentials: { static: { file: fleet_.file('wrong-keys', credentialsText({ ...fake.credentials, secretAccessKey: 'wrong' })) } } }),
    wrongregion: () => ({ regions: ['mars-north-1'] }),
  };
  const sentences = {
    dead: /127\.0\.0\.1:1.*(connect|refused)|(connect|refused).*127\.0\.0\.1:1/is,
    untrusted: /certificate/i,
    wrongkey: /SignatureDoesNotMatch|credentials/,
    wrongregion: /mars-north-1/,
  };
  before(async () => {
    fleet = await Fleet.start({ others });
  });
  after(() => fleet.end());

  for (const [name, words] of Object.entries(sentences))
    it(`${name}_is_told_in_a_sentence_and_others_work`, async () => {
      await fleet.until(`the host tells of ${name}`, async () => {
        const { providers = [] } = await fleet.get('providers');
        const text = JSON.stringify(providers.find(provider => provider.providerId === name)) + fleet.output.split('\n').filter(line => line.includes(name)).join('\n');
        return words.test(text);
      });
    });
});
