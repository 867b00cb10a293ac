// Identity documents of instances and their signatures, made by OpenSSL with keys of this run.
import { execFileSync } from 'node:child_process';
import { sign } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

let made; // {key, certificate}: making them takes a moment, so that all of a process share them

export class Documents {
  constructor(folder) {
    this.certificateFile = path.join(folder, 'identity.pem');
    this.keyFile = path.join(folder, 'identity.key');
    if (made) {
      fs.writeFileSync(this.certificateFile, made.certificate);
      fs.writeFileSync(this.keyFile, made.key);
      return;
    }
    makeKey(this.keyFile, this.certificateFile);
    made = { certificate: fs.readFileSync(this.certificateFile), key: fs.readFileSync(this.keyFile) };
  }

  textOf(instance) {
    return JSON.stringify({
      accountId: instance.account, architecture: instance.architecture, availabilityZone: instance.zone, billingProducts: null,
      devpayProductCodes: null, marketplaceProductCodes: null, imageId: instance.image, instanceId: instance.id,
      instanceType: instance.type, kernelId: null, pendingTime: new Date(instance.launched).toISOString().replace(/\.\d+/, ''),
      privateIp: instance.address, ramdiskId: null, region: instance.region, version: '2017-09-30', ...instance.claims,
    }, null, 2);
  }

  signature(text) {
    return wrapped(sign('sha256', Buffer.from(text), fs.readFileSync(this.keyFile)).toString('base64'));
  }

  // The document within a PKCS7 message, without certificates: base64 without the lines of PEM.
  pkcs7(text) {
    const pem = openssl(['smime', '-sign', '-binary', '-nodetach', '-nocerts', '-md', 'sha256', '-signer', this.certificateFile, '-inkey', this.keyFile, '-outform', 'PEM'], text);
    return pem.replace(/-----.*-----\n/g, '').trim();
  }
}

// Also for a key that AWS does not know.
export function makeKey(keyFile, certificateFile) {
  openssl(['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/C=US/ST=Washington/L=Seattle/O=Fake Web Services LLC',
    '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost', '-keyout', keyFile, '-out', certificateFile]);
}

const wrapped = text => text.replace(/(.{76})(?=.)/g, '$1\n');

function openssl(args, input) {
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
}
