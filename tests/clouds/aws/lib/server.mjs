// The endpoint of all services: finds out which one is meant, checks signature, permission and parameters, and answers or goes wrong on request.
import { randomUUID } from 'node:crypto';

import { elseAnswers, guarded, readBody } from '../../lib/http.mjs';
import { Model } from './model.mjs';
import { Refusal } from './refusal.mjs';
import { readAuthorization, verify } from './signature.mjs';

const unsigned = ['AssumeRoleWithWebIdentity'];

export class Endpoint {
  calls = []; // {service, action, region, account, parameters, code}
  models = Object.fromEntries(['ec2', 'sts', 'sqs', 'servicequotas'].map(name => [name, new Model(name)]));

  constructor({ services, identities, faults, throttle, now }) {
    Object.assign(this, { services, identities, faults, throttle, now });
  }

  handler() {
    return guarded((request, response) => this.#handle(request, response));
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
      if (fault?.kind === 'error') throw new Refusal(fault.code, fault.message ?? `The test asked for ${fault.code}.`, fault.status);
      if (await elseAnswers(fault, request, response, 'text/xml', '<?xml version="1.0"?><DescribeInstancesResponse><requestId>')) return undefined;
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
