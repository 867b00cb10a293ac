// SQS, as far as a reader of EventBridge's messages needs it, and ServiceQuotas.
import { createHash, randomUUID } from 'node:crypto';

import { quotas } from './catalogue.mjs';
import { Refusal } from './refusal.mjs';

export class Queues {
  #queues = new Map(); // name -> messages
  #settings;

  constructor(settings, now) {
    this.#settings = settings;
    this.now = now;
  }

  create(name) {
    this.#queues.set(name, []);
  }
  names() {
    return [...this.#queues.keys()];
  }
  send(name, body) {
    this.#queues.get(name)?.push({ id: randomUUID(), body: JSON.stringify(body), visibleFrom: 0 });
  }
  left(name) {
    return this.#named(`/${name}`).length;
  }

  #named(url) {
    const messages = this.#queues.get(url?.split('/').pop());
    if (!messages) throw new Refusal('QueueDoesNotExist', 'The specified queue does not exist.');
    return messages;
  }

  perform(action, parameters) {
    if (!Queues.actions[action]) throw new Refusal('InvalidAction', `This AWS does not know ${action}`);
    return Queues.actions[action].call(this, parameters, this.#named(parameters.QueueUrl));
  }

  static actions = {
    ReceiveMessage({ MaxNumberOfMessages = 1, VisibilityTimeout = 30 }, messages) {
      if (MaxNumberOfMessages < 1 || MaxNumberOfMessages > 10) throw new Refusal('InvalidParameterValue', 'MaxNumberOfMessages is from 1 to 10');
      const ready = messages.filter(message => message.visibleFrom <= this.now()).slice(0, MaxNumberOfMessages);
      for (const message of ready) {
        message.visibleFrom = this.now() + VisibilityTimeout * 1000;
        message.receipt = randomUUID();
      }
      return {
        Messages: ready.map(({ id, body, receipt }) => ({ MessageId: id, ReceiptHandle: receipt, Body: body, MD5OfBody: createHash('md5').update(body).digest('hex') })),
      };
    },

    DeleteMessage({ ReceiptHandle }, messages) {
      const index = messages.findIndex(message => message.receipt === ReceiptHandle);
      if (index >= 0) messages.splice(index, 1);
      return {};
    },

    DeleteMessageBatch({ Entries }, messages) {
      for (const { ReceiptHandle } of Entries) Queues.actions.DeleteMessage.call(this, { ReceiptHandle }, messages);
      return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] };
    },

    GetQueueAttributes(parameters, messages) {
      return { Attributes: { ApproximateNumberOfMessages: String(messages.length) } };
    },
  };
}

export class ServiceQuotas {
  constructor(settings) {
    this.settings = settings;
  }

  perform(action, parameters) {
    if (action !== 'ListServiceQuotas' && action !== 'GetServiceQuota') throw new Refusal('UnknownOperationException', `This AWS does not know ${action}`);
    if (parameters.ServiceCode !== 'ec2') throw new Refusal('NoSuchResourceException', `There is no service ${parameters.ServiceCode}`);
    const all = quotas.map(({ code, name, value }) => ({
      ServiceCode: 'ec2', ServiceName: 'Amazon Elastic Compute Cloud (Amazon EC2)', QuotaCode: code, QuotaName: name,
      Value: this.settings.quotas[code] ?? value, Adjustable: true, GlobalQuota: false,
    }));
    if (action === 'ListServiceQuotas') return { Quotas: all };
    const found = all.find(entry => entry.QuotaCode === parameters.QuotaCode);
    if (!found) throw new Refusal('NoSuchResourceException', `There is no quota ${parameters.QuotaCode}`);
    return { Quota: found };
  }
}
