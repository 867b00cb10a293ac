// Microsoft's own description of what it takes and answers: the mappers of its clients, and the serializer that uses them.
import fs from 'node:fs';
import { createRequire } from 'node:module';

import { Refusal } from './refusal.mjs';

const require = createRequire(import.meta.url);
const { createSerializer } = require('@azure/core-client');
const compute = require('@azure/arm-compute');

// The mappers are modules in a package that says it has none: they are loaded as text.
async function mappersOf(name) {
  const main = require.resolve(name);
  const file = `${main.slice(0, main.lastIndexOf('/dist/'))}/dist-esm/src/models/mappers.js`;
  return import(`data:text/javascript;base64,${fs.readFileSync(file).toString('base64')}`);
}
const sources = { compute: await mappersOf('@azure/arm-compute'), network: await mappersOf('@azure/arm-network'), resources: await mappersOf('@azure/arm-resources') };
const serializers = Object.fromEntries(Object.entries(sources).map(([name, mappers]) => [name, createSerializer(mappers, false)]));

// Words of enumerations that Microsoft may extend: its mappers have them as texts, its clients by name.
const words = {
  'VirtualMachine.properties.priority': 'KnownVirtualMachinePriorityTypes', 'VirtualMachine.properties.evictionPolicy': 'KnownVirtualMachineEvictionPolicyTypes',
  'OSDisk.createOption': 'KnownDiskCreateOptionTypes', 'DataDisk.createOption': 'KnownDiskCreateOptionTypes',
  'OSDisk.deleteOption': 'KnownDiskDeleteOptionTypes', 'DataDisk.deleteOption': 'KnownDiskDeleteOptionTypes', 'NetworkInterfaceReference.properties.deleteOption': 'KnownDeleteOptions',
  'VirtualMachineNetworkInterfaceConfiguration.properties.deleteOption': 'KnownDeleteOptions', 'VirtualMachinePublicIPAddressConfiguration.properties.deleteOption': 'KnownDeleteOptions',
  'ManagedDiskParameters.storageAccountType': 'KnownStorageAccountTypes', 'NetworkProfile.networkApiVersion': 'KnownNetworkApiVersion',
};
const numbers = { Number: value => typeof value === 'number', Boolean: value => typeof value === 'boolean', String: value => typeof value === 'string', ByteArray: value => typeof value === 'string' };
const texts = ['DateTime', 'DateTimeRfc1123', 'Date', 'TimeSpan', 'Uuid', 'Base64Url', 'UnixTime'];

const wrong = (where, why) => new Refusal('InvalidRequestContent', `The request content was invalid and could not be deserialized: '${why}. Path '${where}'.'`);

// Refuses members that the class does not have, values of other types and words that an enumeration lacks. `answer`: members that only Azure sets are fine.
export function check(source, name, value, { answer = false } = {}) {
  const mapper = sources[source][name];
  if (!mapper) throw new Error(`${source} has no ${name}`);
  checkClass(sources[source], name, value, '', answer);
  if (answer) return;
  const serializer = serializers[source];
  const again = JSON.parse(JSON.stringify(serializer.serialize(mapper, serializer.deserialize(mapper, structuredClone(value), name), name)));
  if (!contains(normal(again), normal(value))) throw wrong('', `Microsoft's own client would send ${JSON.stringify(again)} instead of ${JSON.stringify(value)}`);
}

// The serializer adds defaults, and nothing else may differ.
function contains(whole, part) {
  if (part === null || typeof part !== 'object') return whole === part;
  return whole !== null && typeof whole === 'object' && Object.entries(part).every(([key, item]) => contains(whole[key], item));
}

// Times may be written in more than one way.
const normal = value => JSON.parse(JSON.stringify(value, (_, item) => (typeof item === 'string' && /^\d{4}-\d\d-\d\dT/.test(item) ? new Date(item).toISOString() : item)));

function membersOf(mappers, type) {
  const own = type.modelProperties ?? mappers[type.className]?.type.modelProperties ?? {};
  const parent = type.uberParent && type.uberParent !== type.className ? (mappers[type.uberParent]?.type.modelProperties ?? {}) : {};
  return { ...parent, ...own };
}

// Serialized names have dots: "properties.priority". Returns a tree of the members on the wire.
const trees = new Map();
function treeOf(mappers, className) {
  const key = mappers[className];
  if (trees.has(key)) return trees.get(key);
  const root = { members: {} };
  trees.set(key, root);
  for (const mapper of Object.values(membersOf(mappers, key.type))) {
    const steps = (mapper.serializedName ?? '').split(/(?<!\\)\./).map(step => step.replace(/\\\./g, '.'));
    let node = root;
    steps.forEach((step, index) => {
      node.members[step] ??= index === steps.length - 1 ? { mapper } : { members: {} };
      node = node.members[step];
    });
  }
  return root;
}

function checkClass(mappers, className, value, where, answer) {
  checkTree(mappers, className, treeOf(mappers, className), value, '', where, answer);
}

function checkTree(mappers, className, tree, value, inside, where, answer) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw wrong(where, `${className} is an object, not ${JSON.stringify(value)}`);
  for (const [name, item] of Object.entries(value)) {
    const member = tree.members[name];
    const place = where ? `${where}.${name}` : name;
    if (!member) throw wrong(place, `Could not find member '${name}' on object of type '${className}'`);
    if (member.members) checkTree(mappers, className, member, item, `${inside}${name}.`, place, answer);
    else checkValue(mappers, member.mapper, item, `${className}.${inside}${name}`, place, answer);
  }
}

function checkValue(mappers, mapper, value, known, where, answer) {
  const { type } = mapper;
  if (mapper.readOnly && !answer) throw wrong(where, 'Azure alone sets this');
  if (value === null && mapper.nullable) return;
  if (type.name === 'Composite') return checkClass(mappers, type.className, value, where, answer);
  if (type.name === 'Sequence') {
    if (!Array.isArray(value)) throw wrong(where, `an array is wanted, not ${JSON.stringify(value)}`);
    return value.forEach((item, index) => checkValue(mappers, { ...type.element, readOnly: false }, item, known, `${where}[${index}]`, answer));
  }
  if (type.name === 'Dictionary') {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw wrong(where, 'a table is wanted');
    return Object.entries(value).forEach(([key, item]) => checkValue(mappers, type.value, item, known, `${where}.${key}`, answer));
  }
  if (type.name === 'Enum' && !type.allowedValues.includes(value)) throw wrong(where, `Error converting value ${JSON.stringify(value)}: it is one of ${type.allowedValues.join(', ')}`);
  const fits = numbers[type.name] ?? (texts.includes(type.name) && (item => typeof item === 'string'));
  if (fits && !fits(value)) throw wrong(where, `Error converting value ${JSON.stringify(value)} to ${type.name}`);
  const list = words[known] && Object.values(compute[words[known]]);
  if (list && !list.includes(value)) throw new Refusal('InvalidParameter', `The value '${value}' of parameter '${where}' is not allowed. Allowed values are: ${list.join(', ')}.`, { target: where });
  return undefined;
}
