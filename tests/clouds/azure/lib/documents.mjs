// Attested documents: CMS messages that OpenSSL signs with keys of this run, with a chain from a root over an intermediate to the metadata service's certificate.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { subscription } from './catalogue.mjs';

const openssl = (args, input) => execFileSync('openssl', args, { input, stdio: ['pipe', 'pipe', 'pipe'] });
// "11/18/26 07:20:43 -0000"
const stamp = time => new Date(time).toISOString().replace(/^\d\d(\d\d)-(\d\d)-(\d\d)T([\d:]+)\..*$/, '$2/$3/$1 $4 -0000');

// A root, an intermediate that it signed, and a leaf with that name.
export class Chain {
  constructor(folder, name = 'metadata.azure.com', title = 'Test') {
    fs.mkdirSync(folder, { recursive: true });
    const file = part => path.join(folder, part);
    Object.assign(this, { rootFile: file('root.pem'), intermediateFile: file('intermediate.pem'), leafFile: file('leaf.pem'), keyFile: file('leaf.key') });
    openssl(['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', `/CN=${title} Root`, '-keyout', file('root.key'), '-out', this.rootFile]);
    const authority = file('authority');
    fs.writeFileSync(authority, 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n');
    openssl(['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${title} Intermediate`, '-keyout', file('intermediate.key'), '-out', file('intermediate.csr')]);
    openssl(['x509', '-req', '-in', file('intermediate.csr'), '-CA', this.rootFile, '-CAkey', file('root.key'), '-CAcreateserial', '-days', '3650', '-extfile', authority, '-out', this.intermediateFile]);
    const usage = file('usage');
    fs.writeFileSync(usage, `subjectAltName=DNS:${name}\nkeyUsage=critical,digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n`);
    openssl(['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, '-keyout', this.keyFile, '-out', file('leaf.csr')]);
    openssl(['x509', '-req', '-in', file('leaf.csr'), '-CA', this.intermediateFile, '-CAkey', file('intermediate.key'), '-CAcreateserial', '-days', '3650', '-extfile', usage, '-out', this.leafFile]);
  }

  // base64 of the message, with the leaf's certificate in it and no signed attributes, as Azure makes it.
  sign(text) {
    return openssl(['cms', '-sign', '-binary', '-nodetach', '-noattr', '-md', 'sha256', '-signer', this.leafFile, '-inkey', this.keyFile, '-outform', 'DER'], text).toString('base64');
  }
}

export class Documents {
  constructor(chain, now) {
    Object.assign(this, { chain, now });
  }

  textOf(machine, nonce, claims = {}) {
    const now = this.now();
    return JSON.stringify({
      licenseType: '', nonce: nonce ?? new Date(now).toISOString().replace(/[-:]|\..*$/g, '').replace('T', '-'), plan: { name: '', product: '', publisher: '' }, sku: '',
      subscriptionId: subscription, timeStamp: { createdOn: stamp(now), expiresOn: stamp(now + 6 * 3_600_000) }, vmId: machine.vmId, ...claims,
    });
  }

  attested(machine, nonce) {
    return { encoding: 'pkcs7', signature: this.chain.sign(this.textOf(machine, nonce)) };
  }
}

let made; // keys take a moment: all of a process share them
export function sharedChain(os) {
  if (!made) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-azure-keys-'));
    process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    made = new Chain(folder);
  }
  return made;
}
