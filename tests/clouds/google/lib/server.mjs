// The endpoint of all of Google's services: finds out which one is meant, checks token, permission and request, and answers or goes wrong on request.
import { elseAnswers, guarded, readBody } from '../../lib/http.mjs';
import { project, regionOf, workerAccount } from './catalogue.mjs';
import { furtherPermissions, permissions } from './compute.mjs';
import { check, partial, understand } from './model.mjs';
import { Refusal, TokenRefusal } from './refusal.mjs';

export class Endpoint {
  calls = []; // {service, action, region, zone, type, market, account, parameters, code}

  constructor(parts) {
    Object.assign(this, parts); // compute, billing, identities, faults, throttle, now, url()
  }

  handler() {
    return guarded((request, response) => this.#handle(request, response));
  }

  async #handle(request, response) {
    const text = (await readBody(request)).toString();
    const call = { service: 'compute', action: '', region: undefined, code: undefined };
    this.calls.push(call);
    let answer;
    let refusal;
    let fault;
    try {
      const perform = this.#route(request, text, call);
      fault = this.faults.take(call);
      if (fault?.kind === 'error') throw new Refusal(fault.code, fault.message ?? `The test asked for ${fault.code}.`, { status: fault.status });
      if (await elseAnswers(fault, request, response, 'application/json', '{"kind": "')) return undefined;
      answer = perform();
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof TokenRefusal)) throw error;
      refusal = error;
      call.code = error.code;
    }
    if (fault?.kind === 'cut') return request.socket.destroy();
    let out = JSON.stringify(refusal ? refusal.document() : answer);
    if (fault?.kind === 'truncated') out = out.slice(0, out.length / 2);
    return response.writeHead(refusal?.status ?? 200, { 'Content-Type': 'application/json; charset=UTF-8', Date: new Date(this.now()).toUTCString() }).end(out);
  }

  // Fills in the call; returns what does it.
  #route(request, text, call) {
    const { pathname, searchParams } = new URL(request.url, 'http://fake');
    const is = (service, action) => Object.assign(call, { service, action });
    if (pathname === '/token' && request.method === 'POST') {
      is('oauth2', 'token');
      return () => this.identities.exchange(new URLSearchParams(text), `${this.url()}/token`);
    }
    if (pathname === '/v1/token' && request.method === 'POST') {
      is('sts', 'token');
      return () => this.identities.federate(/json/.test(request.headers['content-type']) ? new URLSearchParams(snakes(JSON.parse(text))) : new URLSearchParams(text));
    }
    if (pathname === '/oauth2/v3/certs' && request.method === 'GET') {
      is('oauth2', 'certs');
      return () => this.identities.certificates();
    }
    call.caller = this.identities.holder(request.headers.authorization);
    call.account = call.caller.email;
    const [, target] = /^\/v1\/projects\/-\/serviceAccounts\/([^:]+):generateAccessToken$/.exec(decodeURIComponent(pathname)) ?? [];
    if (target && request.method === 'POST') {
      is('iamcredentials', 'generateAccessToken');
      return () => this.identities.impersonate(call.caller, target, JSON.parse(text));
    }
    if (pathname === `/v1/projects/${project}:testIamPermissions` && request.method === 'POST') {
      is('cloudresourcemanager', 'testIamPermissions');
      return () => {
        const held = JSON.parse(text).permissions.filter(permission => this.identities.may(call.caller, permission));
        return held.length ? { permissions: held } : {};
      };
    }
    const [, account] = /^\/v1\/projects\/[^/]+\/serviceAccounts\/([^/:]+)$/.exec(decodeURIComponent(pathname)) ?? [];
    if (account && request.method === 'GET') {
      is('iam', 'serviceAccounts.get');
      return () => this.#serviceAccount(call.caller, account);
    }
    if (pathname === '/v1/services/6F81-5844-456A/skus' && request.method === 'GET') {
      is('cloudbilling', 'skus.list');
      return () => this.billing.skus(searchParams);
    }
    return this.#routeCompute(request, text, call);
  }

  #serviceAccount(caller, email) {
    if (!this.identities.may(caller, 'iam.serviceAccounts.get')) throw new Refusal('insufficientPermissions', `Permission 'iam.serviceAccounts.get' denied on resource (or it may not exist).`);
    if (![workerAccount.email, workerAccount.uniqueId].includes(email)) throw new Refusal('notFound', `Unknown service account ${email}`);
    return { name: `projects/${project}/serviceAccounts/${workerAccount.email}`, projectId: project, uniqueId: workerAccount.uniqueId, email: workerAccount.email };
  }

  #routeCompute(request, text, call) {
    const asked = understand(request.method, request.url, text, request.headers['content-type']);
    const { name, parameters, body } = asked;
    Object.assign(call, { action: name, parameters, body, zone: parameters.zone, region: parameters.region ?? (parameters.zone && regionOf(parameters.zone)) });
    const made = body?.instanceProperties ?? body ?? {};
    call.type = made.machineType?.split('/').pop();
    call.market = made.scheduling?.provisioningModel ?? (made.scheduling?.preemptible ? 'SPOT' : 'STANDARD');
    const place = Object.entries({ projects: parameters.project, zones: parameters.zone, regions: parameters.region }).filter(([, value]) => value).map(pair => pair.join('/')).join('/');
    const resource = name.startsWith('instances.') && (parameters.instance ?? body?.name) ? `${place}/instances/${parameters.instance ?? body.name}` : place;
    for (const permission of [permissions[name], ...furtherPermissions(name, body)]) this.identities.authorize(call.caller, permission, resource);
    if (!this.throttle.allows(call.account, '', name))
      throw new Refusal('rateLimitExceeded', `Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'compute.googleapis.com' for consumer 'project_number:739172048511'.`);
    return () => {
      const answer = this.compute.perform(name, parameters, body, call.caller);
      this.#checkAnswer(asked.response, answer, name);
      return asked.fields ? partial(asked.response, answer, asked.fields) : answer;
    };
  }

  // An answer that Google's own description does not have is this fake's mistake. Long lists are checked by their beginning.
  #checkAnswer(type, answer, name) {
    try {
      check(type, shortened(answer), name);
    } catch (error) {
      throw new Error(`the fake's own answer to ${name}: ${error.message}`);
    }
  }
}

const most = 20;
function shortened(answer) {
  const short = { ...answer };
  if (Array.isArray(short.items)) short.items = short.items.slice(0, most);
  else if (short.items)
    short.items = Object.fromEntries(Object.entries(short.items).map(([scope, entry]) => [scope, Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, Array.isArray(value) ? value.slice(0, most) : value]))]));
  return short;
}

const snakes = document => Object.fromEntries(Object.entries(document).map(([key, value]) => [key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), value]));
