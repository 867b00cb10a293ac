// What AWS's own service models (npm aws-sdk) say: how a request is read, whether it is right, and how an answer is written.
import fs from 'node:fs';
import { createRequire } from 'node:module';

import { enumsOf } from './enums.mjs';
import { Refusal } from './refusal.mjs';

const require = createRequire(import.meta.url);
require('aws-sdk/lib/maintenance_mode_message').suppress = true;
const AWS = require('aws-sdk/lib/core');
const { QueryParamSerializer } = { QueryParamSerializer: require('aws-sdk/lib/query/query_param_serializer') };
const XmlParser = require('aws-sdk/lib/xml/node_parser');

const files = {
  ec2: { model: 'ec2-2016-11-15', types: 'ec2' },
  sts: { model: 'sts-2011-06-15', types: 'sts' },
  sqs: { model: 'sqs-2012-11-05', types: 'sqs' },
  servicequotas: { model: 'service-quotas-2019-06-24', types: 'servicequotas' },
};

const read = name => fs.readFileSync(require.resolve(`aws-sdk/${name}`), 'utf8');
const escaped = text => String(text).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// One service's model. Its protocol is ec2, query or json.
export class Model {
  constructor(service) {
    this.service = service;
    const { model, types } = files[service];
    const document = JSON.parse(read(`apis/${model}.min.json`));
    this.protocol = document.metadata.protocol;
    this.version = document.metadata.apiVersion;
    this.namespace = document.metadata.xmlNamespace;
    this.targetPrefix = document.metadata.targetPrefix;
    this.api = new AWS.Model.Api(document, {});
    this.enums = enumsOf(read(`clients/${types}.d.ts`));
    this.validator = new AWS.ParamValidator({ min: true, max: true, pattern: true, enum: true });
  }

  operation(action) {
    const found = this.api.operations[action[0].toLowerCase() + action.slice(1)];
    if (found?.name !== action) throw new Refusal('InvalidAction', `The action ${action} is not valid for this web service.`);
    return found;
  }

  // From a form (a URLSearchParams) to the document that the official client takes. Everything that the model does not know is refused.
  readForm(action, form) {
    const operation = this.operation(action);
    const tree = {};
    for (const [key, value] of form) if (key !== 'Action' && key !== 'Version') plant(tree, key, value);
    const parameters = this.#structure(tree, operation.input, '');
    this.check(action, parameters);
    this.#sameAsTheClientWrites(form, operation, parameters);
    return parameters;
  }

  readJson(action, text) {
    let parameters;
    try {
      parameters = JSON.parse(text || '{}');
    } catch {
      throw new Refusal('SerializationException', 'The body is not JSON.');
    }
    this.check(action, parameters);
    return parameters;
  }

  // AWS's own validator, and the enumerations, which only the client's type declarations have.
  check(action, parameters) {
    const operation = this.operation(action);
    try {
      this.validator.validate(operation.input, parameters);
    } catch (error) {
      throw new Refusal(refusalCodes[error.code] ?? 'InvalidParameterValue', error.message);
    }
    const wrong = this.enums.firstWrong(action, parameters);
    if (wrong) throw new Refusal('InvalidParameterValue', `Value (${wrong.value}) for parameter ${wrong.path} is invalid. Known values are ${wrong.known}`);
  }

  // The client's own serializer must write the same form for what was read.
  #sameAsTheClientWrites(form, operation, parameters) {
    const ours = new Map();
    new QueryParamSerializer().serialize(parameters, operation.input, (name, value) => ours.set(name, value === null ? '' : String(value)));
    for (const [key, value] of form) {
      if (key === 'Action' || key === 'Version') continue;
      if (!ours.has(key)) throw new Refusal('UnknownParameter', `The parameter ${key} is not recognized`);
      // The client writes times without the milliseconds that AWS takes as well.
      const sameTime = ours.get(key) === value.replace(/\.\d+Z$/, 'Z');
      if (ours.get(key) !== value && !sameTime) throw new Refusal('InvalidParameterValue', `${key} is written as ${value}; the official client writes ${ours.get(key)}`);
      ours.delete(key);
    }
    for (const key of ours.keys()) throw new Refusal('MalformedQueryString', `${key} is missing`);
  }

  #value(node, shape, path) {
    if (shape.type === 'structure') return this.#structure(node, shape, path);
    if (shape.type === 'list') return this.#list(node, shape, path);
    if (node instanceof Map || typeof node === 'object') throw new Refusal('UnknownParameter', `The parameter ${path} is not recognized`);
    return scalar(node, shape, path);
  }

  #structure(tree, shape, path) {
    if (typeof tree !== 'object') throw new Refusal('InvalidParameterValue', `${path} is a structure`);
    const byWireName = new Map(Object.entries(shape.members ?? {}).map(([name, member]) => [this.#wireName(member), [name, member]]));
    const document = {};
    for (const [key, node] of Object.entries(tree)) {
      const where = path ? `${path}.${key}` : key;
      if (!byWireName.has(key)) throw new Refusal('UnknownParameter', `The parameter ${where} is not recognized`);
      const [name, member] = byWireName.get(key);
      document[name] = this.#value(node, member, where);
    }
    return document;
  }

  #list(tree, shape, path) {
    if (typeof tree !== 'object') throw new Refusal('InvalidParameterValue', `${path} is a list: ${path}.1, ${path}.2, ...`);
    const element = shape.member.name ?? 'member';
    const items = this.protocol === 'ec2' || shape.flattened ? tree : (tree[element] ?? {});
    return Object.entries(items).map(([key, node], index) => {
      if (key !== String(index + 1)) throw new Refusal('MalformedQueryString', `${path} has ${key} where ${index + 1} is expected`);
      return this.#value(node, shape.member, `${path}.${key}`);
    });
  }

  #wireName(shape) {
    return shape.isQueryName || this.protocol !== 'ec2' ? shape.name : shape.name[0].toUpperCase() + shape.name.slice(1);
  }

  // The answer as AWS writes it. What the model does not know in it is a mistake of the fake.
  writeXml(action, document, requestId) {
    const { output } = this.operation(action);
    this.validator.validate(output, document);
    const body = this.#xml(document, output);
    const start = `<?xml version="1.0" encoding="UTF-8"?>\n<${action}Response xmlns="${this.namespace}">`;
    if (this.protocol === 'ec2') return `${start}<requestId>${requestId}</requestId>${body}</${action}Response>`;
    return `${start}<${action}Result>${body}</${action}Result><ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata></${action}Response>`;
  }

  #xml(value, shape) {
    if (shape.type === 'structure')
      return Object.entries(shape.members)
        .filter(([name]) => value[name] !== undefined)
        .map(([name, member]) => `<${member.name}>${this.#xml(value[name], member)}</${member.name}>`)
        .join('');
    if (shape.type === 'list') {
      const name = shape.member.name ?? 'member';
      return value.map(item => `<${name}>${this.#xml(item, shape.member)}</${name}>`).join('');
    }
    if (shape.type === 'timestamp') return new Date(value).toISOString();
    return escaped(value);
  }

  // How the official client reads an answer.
  readXml(action, text) {
    const { output } = this.operation(action);
    return new XmlParser().parse(text, output);
  }

  writeError({ code, message, status }, requestId) {
    if (this.protocol === 'json') return JSON.stringify({ __type: `com.amazonaws.${this.service}#${code}`, message });
    const error = `<Code>${escaped(code)}</Code><Message>${escaped(message)}</Message>`;
    if (this.protocol === 'ec2')
      return `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error>${error}</Error></Errors><RequestID>${requestId}</RequestID></Response>`;
    const type = status >= 500 ? 'Receiver' : 'Sender';
    return `<ErrorResponse xmlns="${this.namespace}"><Error><Type>${type}</Type>${error}</Error><RequestId>${requestId}</RequestId></ErrorResponse>`;
  }
}

const refusalCodes = {
  MissingRequiredParameter: 'MissingParameter',
  UnexpectedParameter: 'UnknownParameter',
  InvalidParameterType: 'InvalidParameterValue',
};

// "A.1.B" = value, into nested objects.
function plant(tree, key, value) {
  const parts = key.split('.');
  let node = tree;
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    if (['', '__proto__'].includes(part)) throw new Refusal('MalformedQueryString', `${key} is no parameter`);
    if (last ? node[part] !== undefined : typeof (node[part] ?? {}) !== 'object')
      throw new Refusal('MalformedQueryString', `${key} is there twice, or has a value and parts`);
    if (last) node[part] = value;
    else node = node[part] ??= {};
  }
}

function scalar(text, shape, path) {
  const wrong = () => new Refusal('InvalidParameterValue', `Value (${text}) for parameter ${path} is invalid. It is no ${shape.type}.`);
  switch (shape.type) {
    case 'integer':
    case 'long':
      if (!/^-?\d{1,15}$/.test(text)) throw wrong();
      return Number(text);
    case 'float':
    case 'double':
      if (text === '' || !Number.isFinite(Number(text))) throw wrong();
      return Number(text);
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw wrong();
      return text === 'true';
    case 'timestamp':
      if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)) throw wrong();
      return new Date(text);
    default:
      return text;
  }
}
