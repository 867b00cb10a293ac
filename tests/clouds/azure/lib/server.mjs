// The endpoint of all of Azure's services: finds out which one is meant, checks token, permission, version and body, and answers or goes wrong on request.
import { randomUUID } from 'node:crypto';

import { elseAnswers, guarded, readBody } from '../../lib/http.mjs';
import { routes } from './calls.mjs';
import { group, subscription } from './catalogue.mjs';
import { check } from './model.mjs';
import { Refusal, TokenRefusal } from './refusal.mjs';

export class Endpoint {
  calls = []; // {service, action, region, zone, type, market, account, parameters, code}

  constructor(azure) {
    this.azure = azure;
  }

  handler() {
    return guarded((request, response) => this.#handle(request, response));
  }

  async #handle(request, response) {
    const { azure } = this;
    const text = (await readBody(request)).toString();
    const call = { service: 'arm', action: '', region: undefined, code: undefined };
    this.calls.push(call);
    let answer;
    let refusal;
    let fault;
    try {
      const perform = this.#route(request, text, call);
      fault = azure.faults.take(call);
      if (fault?.kind === 'error') throw new Refusal(fault.code, fault.message ?? `The test asked for ${fault.code}.`, { status: fault.status, retryAfter: fault.retryAfter });
      if (await elseAnswers(fault, request, response, 'application/json', '{"value": "')) return undefined;
      answer = perform();
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof TokenRefusal)) throw error;
      refusal = error;
      call.code = error.code;
    }
    if (fault?.kind === 'cut') return request.socket.destroy();
    const document = refusal ? refusal.document() : answer.document;
    let out = document === undefined ? '' : JSON.stringify(document);
    if (fault?.kind === 'truncated') out = out.slice(0, out.length / 2);
    return response.writeHead(refusal?.status ?? answer.status ?? 200, this.#headers(request, call, refusal, answer, out)).end(out);
  }

  #headers(request, call, refusal, answer, out) {
    const { azure } = this;
    const kind = { GET: 'reads', DELETE: 'deletes' }[request.method] ?? 'writes';
    const started = answer?.operation;
    const where = started && `${azure.url}/subscriptions/${subscription}/providers/Microsoft.Compute/locations/${started.location}/operations/${started.id}?api-version=2024-07-01`;
    const waits = started && !azure.operations.isDone(started) ? azure.settings.retryAfter : undefined;
    const retryAfter = refusal?.retryAfter ?? answer?.retryAfter ?? waits;
    return {
      ...(out && { 'Content-Type': 'application/json; charset=utf-8' }), Date: new Date(azure.now()).toUTCString(), 'x-ms-request-id': randomUUID(), 'x-ms-correlation-request-id': randomUUID(),
      [`x-ms-ratelimit-remaining-subscription-${kind}`]: String(azure.settings.remaining[kind] ?? 11999),
      ...(call.action === 'virtualMachines.put' && { 'x-ms-ratelimit-remaining-resource': `Microsoft.Compute/PutVM3Min;${azure.settings.remaining.machines ?? 237},Microsoft.Compute/PutVM30Min;1188` }),
      ...(started && { 'Azure-AsyncOperation': where, ...(answer.status === 202 && { Location: `${where}&monitor=true` }) }), ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    };
  }

  // Fills in the call; returns what does it.
  #route(request, text, call) {
    const { azure } = this;
    const { pathname, searchParams } = new URL(request.url, 'http://fake');
    const is = (service, action) => Object.assign(call, { service, action });
    if (/^\/[^/]+\/oauth2\/v2\.0\/token$/.test(pathname) && request.method === 'POST') {
      is('login', 'token');
      return () => ({ document: azure.identities.exchange(pathname, new URLSearchParams(text), ['https://management.azure.com/', azure.url], `${azure.url}${pathname}`) });
    }
    if (pathname === '/api/retail/prices' && request.method === 'GET') {
      is('prices', 'prices.list');
      return () => ({ document: azure.prices.list(searchParams, azure.url) });
    }
    call.caller = azure.identities.holder(request.headers.authorization);
    call.account = call.caller.client;
    return this.#routeManager(request, pathname, searchParams, text, call);
  }

  #routeManager(request, pathname, query, text, call) {
    const { azure } = this;
    const path = decodeURIComponent(pathname).replace(/\/$/, '');
    const found = routes.find(route => route.method === request.method && route.pattern.test(path));
    if (!/^\/subscriptions\/[^/]+/i.test(path)) throw new Refusal('InvalidResourceType', `No resource is at ${path}.`, { status: 404 });
    const [, asked] = /^\/subscriptions\/([^/]+)/i.exec(path);
    if (asked !== subscription) throw new Refusal('SubscriptionNotFound', `The subscription '${asked}' could not be found.`);
    if (!found) throw new Refusal('InvalidResourceType', `The resource type could not be found for ${request.method} ${path}.`, { status: 404 });
    call.action = found.name;
    call.parameters = Object.fromEntries(query);
    const [owner, ...rest] = path.match(found.pattern).slice(1);
    const names = found.subscription ? [owner, ...rest].filter(Boolean) : rest;
    if (!found.subscription && owner.toLowerCase() !== group) throw new Refusal('ResourceGroupNotFound', `Resource group '${owner}' could not be found.`);
    const version = query.get('api-version');
    if (!version) throw new Refusal('MissingApiVersionParameter', 'The api-version query parameter (?api-version=) is required for all requests.');
    if (!found.versions.includes(version)) throw new Refusal('NoRegisteredProviderFound', `No registered resource provider found for API version '${version}' for ${found.name}. The supported api-versions are '${found.versions.join(', ')}'.`);
    const body = this.#body(found, request, text);
    this.#describeCall(call, found, body, names);
    if (found.action) azure.identities.authorize(call.caller, found.action, path);
    if (!azure.throttle.allows(call.account, '', found.name)) throw new Refusal('TooManyRequests', 'The request is being throttled as the limit has been reached for operation type - Operation_Standard. For more information, see - https://aka.ms/srpthrottlinglimits', { retryAfter: azure.settings.retryAfter });
    return () => this.#perform(found, names, { body, query, headers: request.headers, path }, call);
  }

  #body(found, request, text) {
    if (!found.body) return undefined;
    if (!/^application\/json(; ?charset=utf-8)?$/i.test(request.headers['content-type'] ?? '')) throw new Refusal('UnsupportedMediaType', `The content media type '${request.headers['content-type']}' is not supported. Only 'application/json' is supported.`, { status: 415 });
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      throw new Refusal('InvalidRequestContent', 'The request content was invalid and could not be deserialized.');
    }
    check(...found.body, body);
    return body;
  }

  #describeCall(call, found, body, names) {
    call.region = body?.location ?? (['usage.list', 'operations.get'].includes(found.name) ? names[0] : undefined);
    call.zone = body?.zones?.[0];
    call.type = body?.properties?.hardwareProfile?.vmSize;
    call.market = body?.properties?.priority ?? 'Regular';
    call.name = names[0];
  }

  #perform(found, names, asked, call) {
    const { azure } = this;
    try {
      const answer = found.perform(azure, names, asked);
      if (answer.list) answer.document = this.#page(answer.list, asked);
      if (found.async && answer.document.status === 'InProgress') Object.assign(answer, { retryAfter: azure.settings.retryAfter, status: asked.query.get('monitor') ? 202 : 200 });
      this.#checkAnswer(found, answer.document);
      return answer;
    } catch (error) {
      // Deleting what is not there is fine.
      if (error instanceof Refusal && error.status === 404 && found.gone && /NotFound$/.test(error.code)) {
        call.code = error.code;
        return { status: 204 };
      }
      throw error;
    }
  }

  #page(list, { query, path }) {
    const { azure } = this;
    const from = Number(query.get('$skiptoken') ?? 0);
    const page = list.slice(from, from + azure.settings.pageSize);
    const next = new URLSearchParams(query);
    next.set('$skiptoken', String(from + page.length));
    return { value: page.map(make => make()), ...(from + page.length < list.length && { nextLink: `${azure.url}${path}?${next}` }) };
  }

  // An answer that Microsoft's own mappers do not have is this fake's mistake. Long lists are checked by their beginning.
  #checkAnswer(found, document) {
    if (!found.answer || !document) return;
    try {
      check(...found.answer, Array.isArray(document.value) ? { ...document, value: document.value.slice(0, 20) } : document, { answer: true });
    } catch (error) {
      throw new Error(`the fake's own answer to ${found.name}: ${error.message}`);
    }
  }
}
