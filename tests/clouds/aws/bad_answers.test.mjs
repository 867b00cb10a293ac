import { describeBadAnswers, describeUnreachable } from '../lib/bad_answers.mjs';
import { thorough } from '../lib/thorough.mjs';
import { aws, credentialsText } from './lib/fleet.mjs';

const regions = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'];

// What comes instead of an answer to RunInstances, and what the host says of it.
describeBadAnswers(aws, {
  regions,
  calls: ['RunInstances'],
  options: { provider: () => ({ regions, maxAnswerBytes: 1 << 20 }) },
  answers: {
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
  },
});

describeUnreachable('AWS', aws, {
  others: {
    dead: fake => ({ endpoints: { ec2: 'http://127.0.0.1:1', sts: fake.url } }),
    untrusted: fake => ({ endpoints: { ec2: fake.tlsUrl, sts: fake.url } }),
    wrongkey: (fake, fleet) => ({ credentials: { static: { file: fleet.file('wrong-keys', credentialsText({ ...fake.credentials, secretAccessKey: 'wrong' })) } } }),
    wrongregion: () => ({ regions: ['mars-north-1'] }),
  },
  sentences: {
    dead: /127\.0\.0\.1:1.*(connect|refused)|(connect|refused).*127\.0\.0\.1:1/is,
    untrusted: /certificate/i,
    wrongkey: /SignatureDoesNotMatch|credentials/,
    wrongregion: /mars-north-1/,
  },
});
