// Who may call this AWS: keys, roles and what they may do; and STS, which hands out more of them.
import { randomBytes } from 'node:crypto';

import { accountId } from './catalogue.mjs';
import { Refusal } from './refusal.mjs';

const letters = count => randomBytes(count).toString('base64url').replace(/[-_]/g, 'x').slice(0, count);

export class Identities {
  keys = new Map(); // accessKeyId -> {secretAccessKey, sessionToken, expiration, account, arn}
  roles = new Map(); // arn -> {externalId, webIdentityToken}
  denied = new Set(); // "ec2:RunInstances"
  allowed = undefined; // a list of actions: everything else is denied

  constructor(now) {
    this.now = now;
    this.add({ accessKeyId: 'AKIAFAKEFAKEFAKEFAKE', secretAccessKey: 'a/secret+that/only+tests/know' });
  }

  add({ accessKeyId, secretAccessKey, sessionToken, expiration, account = accountId, arn = `arn:aws:iam::${account}:user/muster` }) {
    this.keys.set(accessKeyId, { accessKeyId, secretAccessKey, sessionToken, expiration, account, arn });
  }

  temporary({ account = accountId, arn, seconds }) {
    const made = {
      accessKeyId: `ASIA${letters(16).toUpperCase()}`, secretAccessKey: letters(40), sessionToken: letters(120),
      expiration: this.now() + seconds * 1000, account, arn,
    };
    this.add(made);
    return made;
  }

  // The key behind a signature. Each service says it in its own words.
  holder(scope, token) {
    const ec2 = scope.service === 'ec2';
    const key = this.keys.get(scope.accessKeyId);
    const unknown = ec2 ? new Refusal('AuthFailure', 'AWS was not able to validate the provided access credentials') : new Refusal('InvalidClientTokenId', 'The security token included in the request is invalid.');
    if (!key || (key.sessionToken ?? undefined) !== token) throw unknown;
    if (key.expiration !== undefined && key.expiration <= this.now())
      throw ec2 ? new Refusal('RequestExpired', 'Request has expired.') : new Refusal('ExpiredToken', 'The security token included in the request is expired');
    return key;
  }

  authorize(key, service, action) {
    const name = `${service}:${action}`;
    if (action === 'GetCallerIdentity') return; // never needs a permission
    const may = !this.denied.has(name) && (this.allowed === undefined || this.allowed.includes(name));
    if (may) return;
    throw service === 'ec2'
      ? new Refusal('UnauthorizedOperation', `You are not authorized to perform this operation. User: ${key.arn} is not authorized to perform: ${name} because no identity-based policy allows the ${name} action.`)
      : new Refusal(service === 'sts' ? 'AccessDenied' : 'AccessDeniedException', `User: ${key.arn} is not authorized to perform: ${name}`, 403);
  }
}

export class Sts {
  constructor(identities) {
    this.identities = identities;
  }

  perform(action, parameters, { key }) {
    if (!Sts.actions[action]) throw new Refusal('InvalidAction', `This AWS does not know ${action}`);
    return Sts.actions[action].call(this, parameters, key);
  }

  static actions = {
    GetCallerIdentity(parameters, key) {
      return { Account: key.account, Arn: key.arn, UserId: key.accessKeyId };
    },

    AssumeRole(parameters, key) {
      const role = this.identities.roles.get(parameters.RoleArn);
      if (!role || role.webIdentityToken || (role.externalId ?? undefined) !== parameters.ExternalId)
        throw new Refusal('AccessDenied', `User: ${key.arn} is not authorized to perform: sts:AssumeRole on resource: ${parameters.RoleArn}`);
      return this.session(parameters, role);
    },

    AssumeRoleWithWebIdentity(parameters) {
      const role = this.identities.roles.get(parameters.RoleArn);
      if (!role?.webIdentityToken) throw new Refusal('AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity');
      if (role.webIdentityToken !== parameters.WebIdentityToken) throw new Refusal('InvalidIdentityToken', 'Couldn\'t retrieve verification key from your identity provider');
      return this.session(parameters, role);
    },
  };

  session({ RoleArn, RoleSessionName, DurationSeconds = 3600 }, role) {
    const account = RoleArn.split(':')[4];
    const arn = `arn:aws:sts::${account}:assumed-role/${RoleArn.split('/').pop()}/${RoleSessionName}`;
    const made = this.identities.temporary({ account, arn, seconds: role.seconds ?? DurationSeconds });
    return {
      Credentials: { AccessKeyId: made.accessKeyId, SecretAccessKey: made.secretAccessKey, SessionToken: made.sessionToken, Expiration: new Date(made.expiration) },
      AssumedRoleUser: { AssumedRoleId: `AROAFAKEFAKEFAKE0000:${RoleSessionName}`, Arn: arn },
    };
  }
}
