// Checks a request's signature with AWS's own signer.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import { SignatureV4 } from '@smithy/signature-v4';

import { Refusal } from './refusal.mjs';

const skewAllowed = 5 * 60_000;

// The hash that the signer is given.
class Sha256 {
  constructor(secret) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  }
  update(bytes) {
    this.hash.update(bytes);
  }
  async digest() {
    return new Uint8Array(this.hash.digest());
  }
}

export const signer = (credentials, region, service) =>
  new SignatureV4({ credentials, region, service, sha256: Sha256, applyChecksum: false });

// Who the request says has signed it, for which service of which region; undefined if nobody has.
export function readAuthorization(headers) {
  const text = headers.authorization;
  if (text === undefined) return undefined;
  const found = text.match(/^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request, ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{64})$/);
  if (!found) throw new Refusal('IncompleteSignature', `Authorization is not in the form of AWS4-HMAC-SHA256: ${text.replace(/[0-9a-f]{64}/, '...')}`);
  const [, accessKeyId, day, region, service, signedHeaders, signature] = found;
  return { accessKeyId, day, region, service, signedHeaders: signedHeaders.split(';'), signature };
}

// `request`: {method, url, headers, body}. Returns nothing; refuses as AWS does.
export async function verify(request, scope, credentials, now) {
  const { headers } = request;
  const date = readDate(headers['x-amz-date']);
  if (!headers['x-amz-date']?.startsWith(scope.day)) throw mismatch('Date in Credential scope does not match X-Amz-Date');
  if (now - date > skewAllowed) {
    if (scope.service === 'ec2') throw new Refusal('RequestExpired', 'Request has expired.');
    throw mismatch(`Signature expired: ${headers['x-amz-date']} is now earlier than the time that is allowed`);
  }
  if (date - now > skewAllowed) throw mismatch(`Signature not yet current: ${headers['x-amz-date']} is still later than the time that is allowed`);
  checkSignedHeaders(headers, scope.signedHeaders);
  checkBody(request);
  const right = await signatureOf(request, scope, credentials, date);
  if (!timingSafeEqual(Buffer.from(right), Buffer.from(scope.signature)))
    throw mismatch('The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.');
}

const mismatch = message => new Refusal('SignatureDoesNotMatch', message);

function readDate(text) {
  const found = text?.match(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/);
  if (!found) throw new Refusal('IncompleteSignature', 'X-Amz-Date is missing, or not like 20250102T030405Z');
  const [, year, month, day, hour, minute, second] = found.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function checkSignedHeaders(headers, names) {
  const sorted = [...names].sort();
  if (names.some((name, index) => name !== sorted[index] || name !== name.toLowerCase())) throw mismatch('SignedHeaders must be in lower case and sorted');
  for (const name of names)
    if (headers[name] === undefined) throw mismatch(`the header ${name} is signed, and was not sent`);
  const needed = ['host', ...Object.keys(headers).filter(name => name.startsWith('x-amz-'))];
  const missing = needed.filter(name => !names.includes(name));
  if (missing.length > 0) throw mismatch(`There were headers present in the request which were not signed: ${missing.join(', ')}`);
}

function checkBody({ headers, body }) {
  const said = headers['x-amz-content-sha256'];
  const is = createHash('sha256').update(body).digest('hex');
  if (said !== undefined && said !== is) throw mismatch(`X-Amz-Content-Sha256 is ${said}, the body's hash is ${is}`);
}

async function signatureOf({ method, url, headers, body }, scope, credentials, date) {
  const address = new URL(url, 'http://fake');
  const query = {};
  for (const [key, value] of address.searchParams) query[key] = key in query ? [].concat(query[key], value) : value;
  const signed = Object.fromEntries(scope.signedHeaders.filter(name => name !== 'x-amz-date' && name !== 'x-amz-security-token').map(name => [name, headers[name]]));
  const made = await signer(credentials, scope.region, scope.service).sign(
    { method, protocol: 'http:', hostname: headers.host, path: address.pathname, query, headers: signed, body },
    { signingDate: new Date(date), signableHeaders: new Set(scope.signedHeaders) },
  );
  return made.headers.authorization.match(/Signature=(.*)$/)[1];
}
