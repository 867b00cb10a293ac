// The endpoint of all services: finds out which one is meant, checks signature, permission and parameters, and answers or goes wrong on request.
import { randomUUID } from 'node:crypto';
import http from 'node:http';

import { Model } from './model.mjs';
import { Refusal } from './refusal.mjs';
import { readAuthorization, verify } from './signature.mjs';

const largestBody = 1 << 20;
const unsigned = ['AssumeRoleWithWebIdentity'];

export class Endpoint {
  calls = []; // {service, action, region, account, parameters, code}
  models = Object.fromEntries(['ec2', 'sts', 'sqs', 'servicequotas'].map(name => [name, new Model(name)]));

  constructor({ services, identities, faults, throttle, now }) {
    Object.assign(this, { services, identities, faults, throttle, now });
  }

  handler() {
    return (request, response) => {
      this.#handle(request, response).catch(error => {
        console.error(error);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    };
  }

  async #handle(request, response) {
    const received = { method: request.method, url: request.url, headers: request.headers, body: await readBody(request) };
    const requestId = randomUUID();
    const call = { service: 'ec2', action: '', region: '', code: undefined };
    this.calls.push(call);
    let document;
    let refusal;
    let fault;
    try {
      await this.#understand(received, call);
      fault = this.faults.take(call);
      if (fault?.kind === 'refuse') return request.socket.destroy();
      if (fault?.kind === 'slow') await new Promise(resolve => setTimeout(resolve, fault.ms));
      if (fault?.kind === 'error') throw new Refusal(fault.code, fault.message ?? `The test asked for ${fault.code}.`, fault.status);
      if (await this.#elseAnswers(fault, response)) return undefined;
      document = this.#perform(call);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
      call.code = error.code;
    }
    if (fault?.kind === 'cut') return request.socket.destroy();
    return this.#send(call, refusal, document, requestId, fault?.kind === 'truncated', request, response);
  }

  // Fills in the call; refuses what nobody may ask.
  async #understand(received, call) {
    const scope = readAuthorization(received.headers);
    const target = received.headers['x-amz-target'];
    const form = target ? undefined : new URLSearchParams(received.method === 'POST' ? received.body.toString() : new URL(received.url, 'http://fake').search);
    call.action = target ? target.split('.')[1] : (form.get('Action') ?? '');
    call.service = scope?.service ?? (unsigned.includes(call.action) ? 'sts' : 'ec2');
    call.region = scope?.region ?? '';
    const model = this.models[call.service];
    if (!model) throw new Refusal('SignatureDoesNotMatch', `Credential should be scoped to a correct service, not ${call.service}`);
    if (scope) {
      const key = this.identities.holder(scope, received.headers['x-amz-security-token']);
      await verify(received, scope, key, this.now());
      call.key = key;
      call.account = key.account;
    } else if (!unsigned.includes(call.action)) {
      throw new Refusal(call.service === 'ec2' ? 'AuthFailure' : 'MissingAuthenticationToken', 'The request is not signed');
    }
    this.#readParameters(received, model, target, form, call);
    if (call.key) this.identities.authorize(call.key, call.service, call.action);
    if (call.parameters.TagSpecifications?.length > 0) this.identities.authorize(call.key, 'ec2', 'CreateTags');
    if (!this.throttle.allows(call.account, call.region, call.action)) throw new Refusal('RequestLimitExceeded', 'Request limit exceeded.');
  }

  #readParameters(received, model, target, form, call) {
    if (model.protocol === 'json') {
      if (target?.split('.')[0] !== model.targetPrefix) throw new Refusal('UnknownOperationException', `X-Amz-Target must begin with ${model.targetPrefix}`);
      const type = received.headers['content-type'];
      if (!/^application\/x-amz-json-1\.[01]$/.test(type)) throw new Refusal('UnknownOperationException', `Content-Type is ${type}`);
      call.parameters = model.readJson(call.action, received.body.toString());
      return;
    }
    if (received.method === 'POST' && !/^application\/x-www-form-urlencoded(; ?charset=utf-8)?$/i.test(received.headers['content-type']))
      throw new Refusal('MalformedQueryString', `Content-Type is ${received.headers['content-type']}`);
    if (form.get('Version') !== model.version) throw new Refusal('NoSuchVersion', `The version is ${model.version}, not ${form.get('Version')}`);
    call.parameters = model.readForm(call.action, form);
    const { Placement, InstanceType, InstanceMarketOptions } = call.parameters;
    call.type = InstanceType;
    call.market = InstanceMarketOptions?.MarketType === 'spot' ? 'spot' : 'onDemand';
    call.zone = Placement?.AvailabilityZone ?? this.services.zoneOfSubnet(call.parameters.SubnetId);
  }

  #perform(call) {
    return this.services[call.service].perform(call.action, call.parameters, call);
  }

  // Something between the client and AWS answers.
  async #elseAnswers(fault, response) {
    const html = { 'Content-Type': 'text/html' };
    switch (fault?.kind) {
      case 'big':
        response.writeHead(200, { 'Content-Type': 'text/xml' });
        response.end(`<?xml version="1.0"?><DescribeInstancesResponse><requestId>${'x'.repeat(10 << 20)}`);
        return true;
      case 'html':
        response.writeHead(fault.status ?? 502, html).end('<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>');
        return true;
      case 'login':
        response.writeHead(200, html).end('<!DOCTYPE html><html><head><title>Please log in</title></head><body><form action="/login">Company proxy</form></body></html>');
        return true;
      case 'redirect':
        response.writeHead(302, { Location: 'http://127.0.0.1:1/login' }).end();
        return true;
      case 'empty':
        response.writeHead(200).end();
        return true;
      default:
        return false;
    }
  }

  #send(call, refusal, document, requestId, truncated, request, response) {
    const model = this.models[call.service] ?? this.models.ec2;
    const json = model.protocol === 'json';
    let text = refusal ? model.writeError(refusal, requestId) : json ? JSON.stringify(document) : model.writeXml(call.action, withoutNothing(document), requestId);
    if (truncated) text = text.slice(0, text.length / 2);
    response.writeHead(refusal?.status ?? 200, {
      'Content-Type': json ? `application/x-amz-json-${model.service === 'sqs' ? '1.0' : '1.1'}` : 'text/xml;charset=UTF-8',
      'x-amzn-RequestId': requestId, Date: new Date(this.now()).toUTCString(),
    });
    response.end(text);
  }
}

const withoutNothing = document => JSON.parse(JSON.stringify(document));

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > largestBody) throw new Error('a request of more than 1 MB');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// Listens at a free port of the loopback interface.
export async function listen(server) {
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

// A proxy for plain HTTP, which notes what passed through.
export function proxyServer(passed) {
  return http.createServer((request, response) => {
    passed.push(request.url);
    const onward = http.request(request.url, { method: request.method, headers: request.headers }, answer => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  });
}
