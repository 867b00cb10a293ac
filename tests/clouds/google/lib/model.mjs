// Google's own description of its compute API, from the protos that its client brings: which calls there are, and what their requests and answers look like.
import { createRequire } from 'node:module';

import protobuf from 'protobufjs';

import { badRequest, Refusal } from './refusal.mjs';

const require = createRequire(import.meta.url);
const root = protobuf.Root.fromJSON(require('@google-cloud/compute/build/protos/protos.json'));
const api = root.lookup('google.cloud.compute.v1');
const services = ['Instances', 'ZoneOperations', 'GlobalOperations', 'RegionOperations', 'RegionInstances', 'Regions', 'Zones', 'MachineTypes', 'Images', 'Subnetworks', 'Projects'];
const ofEveryCall = ['alt', '$alt', 'fields', 'key', 'prettyPrint', 'quotaUser', 'userIp', 'callback', 'access_token', 'oauth_token', 'upload_protocol', 'uploadType', '$.xgafv'];

const small = text => text[0].toLowerCase() + text.slice(1);
const camel = text => text.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const integers = { int32: [-(2n ** 31n), 2n ** 31n - 1n], uint32: [0n, 2n ** 32n - 1n], int64: [-(2n ** 63n), 2n ** 63n - 1n], uint64: [0n, 2n ** 64n - 1n] };

// [{name: 'instances.insert', method: 'POST', pattern, names, request, response, body}]
const routes = services.flatMap(service => api.lookupService(service).methodsArray.map(method => {
  method.resolve();
  const { body, ...http } = method.getOption('(google.api.http)') ?? method.parsedOptions.find(option => option['(google.api.http)'])['(google.api.http)'];
  const [[verb, template]] = Object.entries(http);
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => camel(name));
  return {
    name: `${small(service)}.${small(method.name)}`, method: verb.toUpperCase(), pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '([^/:]+)')}$`), names,
    request: method.resolvedRequestType, response: method.resolvedResponseType, body: body && camel(body),
  };
}));

// Fills in what was asked: {name, parameters, body, response}. `text`: the body.
export function understand(method, url, text, contentType) {
  const { pathname, searchParams } = new URL(url, 'http://fake');
  // Names that more than one template has room for: the one with the fewest.
  const [route] = routes.filter(entry => entry.method === method && entry.pattern.test(pathname)).sort((one, other) => one.names.length - other.names.length);
  if (!route) throw new Refusal('notFound', `The requested URL ${method} ${pathname} was not found on this server.`);
  const values = pathname.match(route.pattern).slice(1).map(decodeURIComponent);
  const parameters = Object.fromEntries(route.names.map((name, index) => [name, values[index]]));
  for (const [name, value] of searchParams) {
    if (ofEveryCall.includes(name)) continue;
    const field = route.request.fields[name];
    if (!field || name === route.body || route.names.includes(name))
      throw badRequest(undefined, `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. Field '${name}' could not be found in request message.`);
    parameters[name] = queryValue(field, value);
  }
  const body = route.body ? readBody(route, text, contentType) : undefined;
  if (!route.body && text !== '') throw badRequest(undefined, `Invalid JSON payload received. ${route.name} has no body.`);
  return { name: route.name, parameters, body, response: route.response, fields: searchParams.get('fields') };
}

function queryValue(field, text) {
  if (field.type === 'bool') {
    if (!['true', 'false'].includes(text)) throw wrongType(field.name, 'TYPE_BOOL', text);
    return text === 'true';
  }
  if (!(field.type in integers)) return text;
  checkInteger(field.name, field.type, text);
  return Number(text);
}

function readBody(route, text, contentType) {
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(contentType ?? '')) throw badRequest(undefined, `Invalid Content-Type ${contentType}: a body is application/json.`);
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    throw badRequest(undefined, 'Invalid JSON payload received. Unexpected token.');
  }
  check(route.request.fields[route.body].resolve().resolvedType, document, small(route.body).replace(/Resource$/, 'Resource'));
  return document;
}

const wrongType = (where, type, value) => badRequest(where, `Invalid value at '${where}' (${type}), ${JSON.stringify(value)}`);

function checkInteger(where, type, value) {
  const text = typeof value === 'string' ? value : Number.isInteger(value) ? String(value) : 'no';
  const [least, most] = integers[type];
  if (!/^-?\d+$/.test(text) || BigInt(text) < least || BigInt(text) > most) throw wrongType(where, `TYPE_${type.toUpperCase()}`, value);
}

// Refuses fields that the message does not have, values of other types, and words that an enumeration does not have.
export function check(type, value, where) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw wrongType(where, type.fullName.slice(1), value);
  for (const [name, item] of Object.entries(value)) {
    const field = type.fields[name];
    if (!field) throw badRequest(where, `Invalid JSON payload received. Unknown name "${name}" at '${where}': Cannot find field.`);
    const place = `${where}.${name}`;
    field.resolve();
    if (field.map) {
      if (item === null || typeof item !== 'object' || Array.isArray(item)) throw wrongType(place, 'Map', item);
      for (const [key, entry] of Object.entries(item)) checkOne(type, field, entry, `${place}['${key}']`);
    } else if (field.repeated) {
      if (!Array.isArray(item)) throw wrongType(place, 'repeated', item);
      item.forEach((entry, index) => checkOne(type, field, entry, `${place}[${index}]`));
    } else {
      checkOne(type, field, item, place);
    }
  }
}

function checkOne(message, field, value, where) {
  if (field.resolvedType instanceof protobuf.Enum) return checkWord(field.resolvedType, value, where);
  if (field.resolvedType) return check(field.resolvedType, value, where);
  if (field.type in integers) return checkInteger(where, field.type, value);
  if (field.type === 'bool' && typeof value !== 'boolean') throw wrongType(where, 'TYPE_BOOL', value);
  if (['double', 'float'].includes(field.type) && typeof value !== 'number') throw wrongType(where, 'TYPE_DOUBLE', value);
  if (['string', 'bytes'].includes(field.type) && typeof value !== 'string') throw wrongType(where, 'TYPE_STRING', value);
  // Google's protos have an enumeration's field as a string, with the enumeration beside it under the field's name.
  const words = message.nested?.[field.name[0].toUpperCase() + field.name.slice(1)];
  if (words instanceof protobuf.Enum) return checkWord(words, value, where);
  return undefined;
}

function checkWord(words, value, where) {
  if (typeof value === 'string' && value in words.values && !value.startsWith('UNDEFINED_')) return;
  throw new Refusal('invalid', `Invalid value for field '${where.replace(/^\w+/, 'resource')}': '${value}'. Must be one of ${Object.keys(words.values).slice(1).join(', ')}.`);
}

export const typeNamed = name => api.lookupType(name);

// What `fields=items/*/instances(id,status),nextPageToken` leaves of an answer.
export function partial(type, document, mask) {
  const tree = parseMask(mask);
  checkMask({ type }, tree);
  return pick(document, tree);
}

// `place`: {type} of a message, or {each} of a map's values.
function checkMask(place, tree) {
  for (const [name, below] of Object.entries(tree)) {
    const field = place.type?.fields[name];
    if (place.type && !field && name !== '*') throw new Refusal('invalid', `Invalid field selection ${name}`, { location: 'fields', locationType: 'parameter' });
    const next = place.each ?? field?.resolve().resolvedType;
    if (below !== true) checkMask(field?.map ? { each: next } : { type: next }, below);
  }
}

function pick(value, tree) {
  if (tree === true) return value;
  if (Array.isArray(value)) return value.map(entry => pick(entry, tree));
  return Object.fromEntries(Object.entries(value).filter(([name]) => name in tree || '*' in tree).map(([name, item]) => [name, pick(item, tree[name] ?? tree['*'])]));
}

function parseMask(text) {
  let at = 0;
  const list = () => {
    const tree = {};
    for (;;) {
      const steps = [];
      for (;;) {
        const [step] = /^[\w*]+/.exec(text.slice(at)) ?? [];
        if (!step) throw new Refusal('invalid', `Invalid field selection ${text}`, { location: 'fields', locationType: 'parameter' });
        at += step.length;
        steps.push(step);
        if (text[at] !== '/') break;
        at += 1;
      }
      let leaf = true;
      if (text[at] === '(') {
        at += 1;
        leaf = list();
        if (text[at] !== ')') throw new Refusal('invalid', `Invalid field selection ${text}`);
        at += 1;
      }
      let node = tree;
      steps.forEach((step, index) => {
        if (index === steps.length - 1) node[step] = leaf;
        else node = node[step] = node[step] && node[step] !== true ? node[step] : {};
      });
      if (text[at] !== ',') return tree;
      at += 1;
    }
  };
  const tree = list();
  if (at !== text.length) throw new Refusal('invalid', `Invalid field selection ${text}`);
  return tree;
}
