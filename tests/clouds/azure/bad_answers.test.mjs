import { describeBadAnswers, describeUnreachable } from '../lib/bad_answers.mjs';
import { thorough } from '../lib/thorough.mjs';
import { locations } from './lib/catalogue.mjs';
import { azure } from './lib/fleet.mjs';

// What comes instead of an answer to the PUT of a machine, and what the host says of it.
describeBadAnswers(azure, {
  regions: locations,
  calls: ['virtualMachines.put'],
  options: { provider: () => ({ locations, maxAnswerBytes: 1 << 20 }) },
  answers: {
    login: [{ kind: 'login' }, /a web page.*a proxy or a login page/],
    truncated: [{ kind: 'truncated' }, /no JSON/],
    big: [{ kind: 'big' }, /an answer of more than 1048576 bytes/],
    cut: [{ kind: 'cut' }, /closed the connection without an answer/],
    ...(thorough && {
      html: [{ kind: 'html' }, /502.*a web page/],
      redirect: [{ kind: 'redirect' }, /302.*a redirect is not followed/],
      refuse: [{ kind: 'refuse' }, /closed the connection without an answer/],
      unknown: [{ kind: 'error', code: 'SomethingThatNobodyKnows' }, /SomethingThatNobodyKnows/],
    }),
  },
});

const endpoints = (fake, more) => ({ endpoints: { resourceManager: fake.url, login: fake.url, retailPrices: fake.url, ...more } });
describeUnreachable('Azure', azure, {
  others: {
    dead: fake => endpoints(fake, { resourceManager: 'http://127.0.0.1:1' }),
    untrusted: fake => endpoints(fake, { resourceManager: fake.tlsUrl }),
    wrongsecret: (fake, fleet) => ({ credentials: { clientSecret: { clientId: fake.identities.client.id, file: fleet.file('wrong-secret', 'wrong') } } }),
    wrongtenant: () => ({ tenant: '11111111-0000-4000-8000-000000000000' }),
    wronggroup: () => ({ resourceGroup: 'of-nobody' }),
  },
  sentences: {
    dead: /127\.0\.0\.1:1.*(connect|refused)|(connect|refused).*127\.0\.0\.1:1/is,
    untrusted: /certificate/i,
    wrongsecret: /AADSTS7000215/,
    wrongtenant: /AADSTS90002/,
    wronggroup: /ResourceGroupNotFound/,
  },
});
