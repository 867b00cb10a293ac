// Cuts AWS's own model of its APIs to what the provider calls: plugins/provider/aws/model.json.
//
//   node cut_model.mjs <folder of npm's aws-sdk>                   writes the model to standard output
//   node cut_model.mjs <folder of npm's aws-sdk> --check <file>    exit code 1 if the file differs from it
//
// Shapes and names on the wire come from apis/*.min.json. The words of enums are not in there; they come from the
// package's own declarations, clients/*.d.ts, which AWS makes from the same model.
import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const cuts = {
  ec2: {
    api: 'ec2-2016-11-15',
    declarations: 'ec2',
    actions: [
      'CreateTags', 'DescribeAvailabilityZones', 'DescribeImages', 'DescribeInstanceTypeOfferings',
      'DescribeInstanceTypes', 'DescribeInstances', 'DescribeKeyPairs', 'DescribeRegions', 'DescribeSecurityGroups',
      'DescribeSpotPriceHistory', 'DescribeSubnets', 'GetConsoleOutput', 'RunInstances', 'TerminateInstances',
    ],
  },
  servicequotas: {
    api: 'service-quotas-2019-06-24',
    declarations: 'servicequotas',
    actions: ['GetServiceQuota', 'ListServiceQuotas'],
  },
  sqs: {
    api: 'sqs-2012-11-05',
    declarations: 'sqs',
    actions: ['DeleteMessage', 'DeleteMessageBatch', 'GetQueueAttributes', 'ReceiveMessage'],
  },
  sts: {
    api: 'sts-2011-06-15',
    declarations: 'sts',
    actions: ['AssumeRole', 'AssumeRoleWithWebIdentity', 'GetCallerIdentity'],
  },
};

// An enum with more words than this grows all the time (instance types, services): a new word is no mistake.
const mostWords = 40;
// What a place in the model may say beside its shape.
const wireKeys = ['locationName', 'queryName', 'flattened', 'sensitive', 'resultWrapper', 'timestampFormat'];

// Of the declarations: the members of each interface with the names of their types, and what other types are.
function readDeclarations(text) {
  const interfaces = new Map();
  const types = new Map();
  let members = null;
  for (const line of text.split('\n')) {
    let found;
    if ((found = /^ {2}export interface (\w+) \{/.exec(line))) {
      members = new Map();
      interfaces.set(found[1], members);
      if (line.endsWith('}')) members = null;
    } else if (/^ {2}\}/.test(line)) {
      members = null;
    } else if (members && (found = /^ {4}(\w+)\??: ([\w.]+);/.exec(line))) {
      members.set(found[1], found[2]);
    } else if ((found = /^ {2}export type (\w+) = (.*);$/.exec(line))) {
      types.set(found[1], found[2]);
    }
  }
  return { interfaces, types };
}

function parameterTypes(text, action) {
  const method = action[0].toLowerCase() + action.slice(1);
  const found = new RegExp(`^ {2}${method}\\(params: \\w+\\.Types\\.(\\w+), callback\\?: \\(err: AWSError, data: ([\\w.{}]+)\\)`, 'm')
    .exec(text);
  if (!found) throw new Error(`no method ${method} in the declarations`);
  return { input: found[1], output: found[2].split('.').pop() };
}

class Cutter {
  constructor(model, declarations) {
    this.model = model;
    this.declarations = declarations;
    this.shapes = {};
  }

  words(type) {
    const text = this.declarations.types.get(type);
    if (!text || !text.startsWith('"') || !text.endsWith('|string')) return null;
    const words = JSON.parse(`[${text.slice(0, -'|string'.length).replaceAll('"|"', '","')}]`);
    return words.length <= mostWords ? words : null;
  }

  // What this place says about its shape, and the shape itself.
  cut(place, type, withEnums) {
    const named = place.shape ? { ...this.model.shapes[place.shape], ...place } : place;
    const result = {};
    for (const key of wireKeys) if (named[key] !== undefined) result[key] = named[key];
    switch (named.type ?? 'string') {
      case 'structure':
        return { ...result, shape: this.structure(named, type, withEnums) };
      case 'list': {
        const element = /^(\w+)\[\]$/.exec(this.declarations.types.get(type) ?? '')?.[1];
        return { ...result, type: 'list', member: this.cut(named.member, element, withEnums) };
      }
      case 'map': {
        const value = /^\{\[key: string\]: (\w+)\}$/.exec(this.declarations.types.get(type) ?? '')?.[1];
        return { ...result, type: 'map', key: this.cut(named.key, undefined, withEnums),
                 value: this.cut(named.value, value, withEnums) };
      }
      default: {
        if (named.type && named.type !== 'string') result.type = named.type;
        const words = withEnums && !named.type && this.words(type);
        if (words) result.enum = words;
        return result;
      }
    }
  }

  structure(named, type, withEnums) {
    const name = `${type ?? named.shape}${withEnums ? '' : '.answer'}`;
    if (!type && !named.shape) throw new Error(`a structure without a name: ${JSON.stringify(named).slice(0, 200)}`);
    if (name in this.shapes) return name;
    const shape = { type: 'structure' };
    this.shapes[name] = shape;
    if (withEnums && named.required?.length) shape.required = named.required;
    const known = this.declarations.interfaces.get(type) ?? new Map();
    shape.members = {};
    for (const [member, place] of Object.entries(named.members ?? {}))
      shape.members[member] = this.cut(place, known.get(member), withEnums);
    return name;
  }
}

function cutService(folder, { api, declarations: file, actions }) {
  const model = JSON.parse(readFileSync(join(folder, 'apis', `${api}.min.json`)));
  const text = readFileSync(join(folder, 'clients', `${file}.d.ts`), 'utf8');
  const cutter = new Cutter(model, readDeclarations(text));
  const operations = {};
  for (const action of actions) {
    const operation = model.operations[action];
    if (!operation) throw new Error(`${api} has no ${action}`);
    const types = parameterTypes(text, action);
    operations[action] = {};
    if (operation.input) operations[action].input = cutter.cut(operation.input, types.input, true);
    if (operation.output) operations[action].output = cutter.cut(operation.output, types.output, false);
  }
  const { protocol, apiVersion, endpointPrefix, targetPrefix, jsonVersion } = model.metadata;
  return { protocol, apiVersion, endpointPrefix, targetPrefix, jsonVersion, operations, shapes: cutter.shapes };
}

// One line for each operation and each shape, so that a difference can be read.
function write(services) {
  const lines = [];
  const put = (indent, text) => lines.push(' '.repeat(indent) + text);
  const table = (indent, name, entries, end) => {
    put(indent, `${JSON.stringify(name)}: {`);
    entries.forEach(([key, value], i) =>
      put(indent + 1, `${JSON.stringify(key)}: ${JSON.stringify(value)}${i + 1 < entries.length ? ',' : ''}`));
    put(indent, `}${end}`);
  };
  put(0, '{');
  const names = Object.keys(services);
  names.forEach((name, i) => {
    const { operations, shapes, ...about } = services[name];
    put(1, `${JSON.stringify(name)}: {`);
    for (const [key, value] of Object.entries(about))
      if (value !== undefined) put(2, `${JSON.stringify(key)}: ${JSON.stringify(value)},`);
    table(2, 'operations', Object.entries(operations), ',');
    table(2, 'shapes', Object.entries(shapes).sort(([a], [b]) => (a < b ? -1 : 1)), '');
    put(1, i + 1 < names.length ? '},' : '}');
  });
  put(0, '}');
  return lines.join('\n') + '\n';
}

const [folder, option, file] = process.argv.slice(2);
if (!folder || !existsSync(join(folder, 'apis')) || (option && (option !== '--check' || !file))) {
  console.error('usage: node cut_model.mjs <folder of npm\'s aws-sdk> [--check <model.json>]');
  process.exit(2);
}
const cut = write(Object.fromEntries(Object.entries(cuts).map(([name, what]) => [name, cutService(folder, what)])));
if (!option) {
  process.stdout.write(cut);
} else if (readFileSync(file, 'utf8') !== cut) {
  console.error(`${file} is not what AWS's model gives; make it anew: node cut_model.mjs <aws-sdk> > ${file}`);
  process.exit(1);
}
