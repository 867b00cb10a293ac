// Deployments of ARM templates: as much of their language as a template with a machine, its network interface and its address needs.
import { groupPath, subscription } from './catalogue.mjs';
import { check } from './model.mjs';
import { Refusal } from './refusal.mjs';
import { idOf, types } from './resources.mjs';

const invalid = message => new Refusal('InvalidTemplate', `Deployment template validation failed: '${message}'.`);
const order = [types.address, types.nic, types.machine];

export class Deployments {
  all = new Map(); // by name in lower case

  constructor(machines, resources, operations, now) {
    Object.assign(this, { machines, resources, operations, now });
  }

  put(name, { properties, tags, location }) {
    this.operations.sweep();
    const before = this.all.get(name.toLowerCase());
    if (before && this.state(before) === 'Running') throw new Refusal('DeploymentActive', `The deployment with resource id '${idOf(types.deployment, name)}' cannot be saved, because this would overwrite an existing deployment which is still active.`);
    if (!properties.template) throw invalid('this Azure takes templates, not links');
    const { template } = properties;
    const known = ['$schema', 'contentVersion', 'parameters', 'variables', 'resources', 'outputs', 'functions', 'metadata', 'languageVersion', 'definitions'];
    const unknown = Object.keys(template).find(key => !known.includes(key));
    if (unknown || !template.$schema || !template.contentVersion || !Array.isArray(template.resources)) throw invalid(`Could not find member '${unknown}' on object of type 'Template', or $schema, contentVersion or resources are missing`);
    const values = valuesOf(template, properties.parameters ?? {});
    const wanted = template.resources.map(resource => evaluate(resource, values));
    for (const { type } of wanted) if (!order.includes(type)) throw new Refusal('InvalidResourceType', `The resource type '${type}' could not be found.`);
    const deployment = { name, tags, location, properties, started: this.now(), made: [], ended: undefined, error: undefined };
    this.all.set(name.toLowerCase(), deployment);
    deployment.operation = this.operations.begin('westus2', () => {}, undefined);
    this.#deploy(deployment, wanted);
    return deployment;
  }

  // One after the other; what was made before a failure stays.
  #deploy(deployment, wanted) {
    for (const resource of [...wanted].sort((one, other) => order.indexOf(one.type) - order.indexOf(other.type))) {
      const { type, apiVersion, name, dependsOn, ...body } = resource;
      const step = { id: idOf(type, name), type, name, state: 'Succeeded' };
      deployment.made.push(step);
      try {
        if (!apiVersion) throw invalid(`The template resource '${name}' has no apiVersion`);
        if (type === types.machine) {
          check('compute', 'VirtualMachine', body);
          const { machine } = this.machines.put(name, body);
          step.machine = machine;
          deployment.machine = machine;
        } else {
          check('network', type === types.nic ? 'NetworkInterface' : 'PublicIPAddress', body);
          if (type === types.nic) this.resources.putNic(name, body);
          else this.resources.putAddress(name, body);
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        Object.assign(step, { state: 'Failed', error: { code: error.code, message: error.message } });
        deployment.error = step.error;
        return;
      }
    }
  }

  #errorOf(deployment) {
    return deployment.error ?? deployment.machine?.failure;
  }

  state(deployment) {
    this.operations.sweep();
    if (!this.operations.isDone(deployment.operation)) return 'Running';
    return this.#errorOf(deployment) ? 'Failed' : 'Succeeded';
  }

  known(name) {
    const found = this.all.get(name.toLowerCase());
    if (!found) throw new Refusal('DeploymentNotFound', `Deployment '${name}' could not be found.`);
    return found;
  }

  delete(name) {
    const deployment = this.known(name);
    if (this.state(deployment) === 'Running') throw new Refusal('DeploymentActive', 'The deployment is still active.');
    this.all.delete(name.toLowerCase());
  }

  describe(deployment) {
    const state = this.state(deployment);
    const error = state === 'Failed' && this.#errorOf(deployment);
    const { template, parameters, ...rest } = deployment.properties;
    const shown = Object.fromEntries(Object.entries(parameters ?? {}).filter(([key]) => !/password/i.test(key)).map(([key, { value }]) => [key, { type: typeof value === 'object' ? 'Object' : 'String', value }]));
    return {
      id: idOf(types.deployment, deployment.name), name: deployment.name, type: types.deployment, ...(deployment.tags && { tags: deployment.tags }),
      properties: {
        ...rest, provisioningState: state, timestamp: new Date(deployment.started).toISOString(), duration: 'PT1S', correlationId: 'c', parameters: shown, providers: [], dependencies: [],
        ...(state !== 'Running' && { outputResources: deployment.made.filter(step => step.state === 'Succeeded').map(({ id }) => ({ id })) }),
        ...(error && { error: { code: 'DeploymentFailed', message: 'At least one resource deployment operation failed. Please list deployment operations for details. Please see https://aka.ms/arm-deployment-operations for usage details.', details: [error] } }),
      },
    };
  }

  operationsOf(name) {
    const deployment = this.known(name);
    return deployment.made.map(({ id, type, name: resourceName, state, error, machine }, index) => {
      const failure = error ?? machine?.failure;
      return {
        id: `${idOf(types.deployment, deployment.name)}/operations/${index}`, operationId: String(index),
        properties: {
          provisioningOperation: 'Create', provisioningState: failure ? 'Failed' : state, timestamp: new Date(deployment.started).toISOString(), duration: 'PT1S', statusCode: failure ? 'Conflict' : 'OK',
          targetResource: { id, resourceType: type, resourceName }, ...(failure && { statusMessage: { error: failure } }),
        },
      };
    });
  }
}

function valuesOf(template, given) {
  const parameters = {};
  for (const [name, declared] of Object.entries(template.parameters ?? {})) {
    const value = given[name]?.value ?? declared.defaultValue;
    if (value === undefined) throw invalid(`The value for the template parameter '${name}' is not provided`);
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'int' : typeof value;
    if (declared.type.toLowerCase().replace('secure', '') !== kind) throw invalid(`Template parameter '${name}' is of type '${kind}', expected '${declared.type}'`);
    parameters[name] = value;
  }
  const extra = Object.keys(given).find(name => !(name in (template.parameters ?? {})));
  if (extra) throw invalid(`The following parameters were supplied, but do not correspond to any parameters defined in the template: '${extra}'`);
  const values = { parameters, variables: {} };
  for (const [name, value] of Object.entries(parameters)) parameters[name] = evaluate(value, values);
  for (const [name, value] of Object.entries(template.variables ?? {})) values.variables[name] = evaluate(value, values);
  return values;
}

// Texts that are "[expression]" become what they say.
function evaluate(value, values) {
  if (Array.isArray(value)) return value.map(item => evaluate(item, values));
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, evaluate(item, values)]));
  if (typeof value !== 'string' || !/^\[(?!\[).*\]$/s.test(value)) return value;
  return new Expression(value.slice(1, -1), values).whole();
}

class Expression {
  constructor(text, values) {
    Object.assign(this, { text, values, at: 0 });
  }

  whole() {
    const value = this.#value();
    if (this.at !== this.text.length) throw invalid(`Unable to parse language expression '${this.text}'`);
    return value;
  }

  #take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  #value() {
    const text = this.#take(/\s*'((?:[^']|'')*)'\s*/y);
    if (text) return text[1].replace(/''/g, '\'');
    const number = this.#take(/\s*(-?\d+)\s*/y);
    if (number) return Number(number[1]);
    const call = this.#take(/\s*([A-Za-z]\w*)\s*\(/y);
    if (!call) throw invalid(`Unable to parse language expression '${this.text}'`);
    const given = [];
    while (!this.#take(/\s*\)\s*/y)) {
      if (given.length && !this.#take(/\s*,/y)) throw invalid(`Unable to parse language expression '${this.text}'`);
      given.push(this.#value());
    }
    let value = this.#call(call[1], given);
    for (let member = this.#take(/\.(\w+)\s*/y); member; member = this.#take(/\.(\w+)\s*/y)) value = value?.[member[1]];
    return value;
  }

  #call(name, given) {
    const calls = {
      parameters: key => this.values.parameters[key] ?? (() => { throw invalid(`The template parameter '${key}' is not found`); })(),
      variables: key => this.values.variables[key] ?? (() => { throw invalid(`The template variable '${key}' is not found`); })(),
      concat: (...parts) => (Array.isArray(parts[0]) ? parts.flat() : parts.join('')),
      format: (pattern, ...parts) => pattern.replace(/\{(\d+)\}/g, (_, index) => parts[index]),
      resourceId: (type, ...names) => `${groupPath}/providers/${type.split('/').slice(0, 2).join('/')}/${names[0]}${names.slice(1).map((part, index) => `/${type.split('/')[index + 2]}/${part}`).join('')}`,
      resourceGroup: () => ({ id: groupPath, name: groupPath.split('/').pop(), location: 'westus2' }),
      subscription: () => ({ id: `/subscriptions/${subscription}`, subscriptionId: subscription }),
      toLower: text => text.toLowerCase(), base64: text => Buffer.from(text).toString('base64'), uniqueString: (...parts) => Buffer.from(parts.join()).toString('hex').slice(0, 13),
      take: (text, count) => text.slice(0, count), substring: (text, from, count) => text.slice(from, from + count), createArray: (...parts) => parts, json: text => JSON.parse(text),
      if: (condition, one, other) => (condition ? one : other), equals: (one, other) => one === other, empty: value => value === '' || Object.keys(value ?? {}).length === 0, union: (...parts) => Object.assign({}, ...parts),
    };
    if (!calls[name]) throw invalid(`The template function '${name}' is not valid`);
    return calls[name](...given);
  }
}
