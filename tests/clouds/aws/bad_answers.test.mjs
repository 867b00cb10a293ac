// Answers that are none of AWS's, and configurations with which AWS cannot be reached: a clear sentence each; the host goes on, and nothing
// is launched twice.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { credentialsText, Fleet } from './lib/fleet.mjs';
import { thorough } from '../lib/thorough.mjs';

const everywhere = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'];
// What comes instead of an answer to RunInstances, and what the host says of it. One region for each: a failure holds its region.
const answers = {
  login: [{ kind: 'login' }, /a web page \(title: Please log in\).*a proxy or a login page/],
  truncated: [{ kind: 'truncated' }, /XML that ends in the middle/],
  big: [{ kind: 'big' }, /an answer of more than 1048576 bytes/],
  cut: [{ kind: 'cut' }, /closed the connection without an answer/],
  ...(thorough && {
    html: [{ kind: 'html' }, /HTTP status 502 and a web page \(title: 502 Bad Gateway\)/],
    redirect: [{ kind: 'redirect' }, /302 .*a redirect is not followed/],
    empty: [{ kind: 'empty' }, /sent nothing instead of XML/],
    refuse: [{ kind: 'refuse' }, /closed the connection without an answer/],
    internal: [{ kind: 'error', code: 'InternalError', status: 500 }, /InternalError/],
    unknown: [{ kind: 'error', code: 'SomethingThatNobodyKnows' }, /does not know the code SomethingThatNobodyKnows/],
  }),
};
const rounds = Array.from({ length: Math.ceil(Object.keys(answers).length / everywhere.length) }, (_, round) =>
  Object.entries(answers).slice(round * everywhere.length, (round + 1) * everywhere.length));

for (const round of rounds)
  describe(`bad answers to a launch: ${round.map(([name]) => name).join(', ')}`, () => {
    let fleet;
    const regions = Object.fromEntries(round.map(([name], index) => [name, everywhere[index]]));
    const names = Object.keys(regions);
    before(async () => (fleet = await Fleet.start({ values: { maxCapacity: 1 }, provider: () => ({ regions: everywhere, maxAnswerBytes: 1 << 20 }), regions })));
    after(() => fleet.end());

    it('are_told_in_a_sentence', async () => {
      for (const [name, [fault]] of round) fleet.fake.faults.add({ ...fault, action: 'RunInstances', region: regions[name] });
      fleet.demand(1, names);
      for (const [name, [, words]] of round) await fleet.holdSaying(words, regions[name]);
    });

    it('are_followed_by_one_machine_for_each_worker', async () => {
      fleet.fake.faults.clear();
      await fleet.own('holds/ec2', { method: 'DELETE' });
      const settled = async name => {
        const workers = await fleet.workers(name);
        return workers.length === 1 && fleet.living().some(instance => instance.id === workers[0].workerId);
      };
      for (const name of names) await fleet.until(`one worker of ${name} with its machine`, () => settled(name), 60_000);
      assert.equal(fleet.fake.instances.history.length, names.length, 'each was launched once');
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
