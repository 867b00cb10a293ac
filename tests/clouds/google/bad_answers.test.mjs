import { describeBadAnswers, describeUnreachable } from '../lib/bad_answers.mjs';
import { thorough } from '../lib/thorough.mjs';
import { regions } from './lib/catalogue.mjs';
import { google, services } from './lib/fleet.mjs';

// One zone of each region: a failure may hold its zone alone.
const places = regions.map(region => region.name);
const zones = regions.map(region => region.zones[0]);

// What comes instead of an answer to a creation, and what the host says of it.
describeBadAnswers(google, {
  regions: places,
  calls: ['instances.insert', 'instances.bulkInsert'],
  options: { provider: () => ({ regions: undefined, zones, maxAnswerBytes: 1 << 20 }) },
  answers: {
    login: [{ kind: 'login' }, /a web page.*a proxy or a login page/],
    truncated: [{ kind: 'truncated' }, /JSON/],
    big: [{ kind: 'big' }, /an answer of more than 1048576 bytes/],
    cut: [{ kind: 'cut' }, /closed the connection without an answer/],
    ...(thorough && {
      html: [{ kind: 'html' }, /502.*a web page/],
      redirect: [{ kind: 'redirect' }, /302.*a redirect is not followed/],
      refuse: [{ kind: 'refuse' }, /closed the connection without an answer/],
      unknown: [{ kind: 'error', code: 'somethingThatNobodyKnows' }, /somethingThatNobodyKnows/],
    }),
  },
});

const endpoints = (fake, more) => ({ endpoints: { ...Object.fromEntries(services.map(service => [service, fake.url])), ...more } });
describeUnreachable('Google', google, {
  others: {
    dead: fake => endpoints(fake, { compute: 'http://127.0.0.1:1' }),
    untrusted: fake => endpoints(fake, { compute: fake.tlsUrl }),
    wrongkey: (fake, fleet) => ({ credentials: { file: fleet.file('wrong-key.json', JSON.stringify({ ...JSON.parse(fake.keyFileText), client_email: 'nobody@muster-tests.iam.gserviceaccount.com' })) } }),
    wrongproject: () => ({ project: 'another-project' }),
  },
  sentences: {
    dead: /127\.0\.0\.1:1.*(connect|refused)|(connect|refused).*127\.0\.0\.1:1/is,
    untrusted: /certificate/i,
    wrongkey: /invalid_grant|account not found/,
    wrongproject: /another-project/,
  },
});
