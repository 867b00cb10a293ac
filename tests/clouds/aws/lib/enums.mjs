// The enumerations of AWS's model. The compact models of npm's aws-sdk have none; the client's type declarations do:
//   export interface SpotMarketOptions { ... SpotInstanceType?: SpotInstanceType; }
//   export type SpotInstanceType = "one-time"|"persistent"|string;
const interfacePattern = /export interface (\w+) \{\n([\s\S]*?)\n {2}\}/g;
const memberPattern = /^ {4}(\w+)\??: (?:_?)([\w.]+);$/gm;
const typePattern = /export type (\w+) = ([^;]+);/g;

export function enumsOf(declarations) {
  const structures = new Map();
  const lists = new Map();
  const enums = new Map();
  for (const [, name, body] of declarations.matchAll(interfacePattern))
    structures.set(name, new Map([...body.matchAll(memberPattern)].map(([, member, type]) => [member, type])));
  for (const [, name, text] of declarations.matchAll(typePattern)) {
    const list = text.match(/^(\w+)\[\]$/);
    if (list) lists.set(name, list[1]);
    else if (/^"/.test(text)) enums.set(name, new Set([...text.matchAll(/"([^"]*)"/g)].map(([, value]) => value)));
  }
  const inputs = new Map([...declarations.matchAll(/^ {2}(\w+)\(params: \w+\.Types\.(\w+),/gm)].map(([, method, type]) => [method, type]));
  return new Enums(structures, lists, enums, inputs);
}

class Enums {
  constructor(structures, lists, enums, inputs) {
    Object.assign(this, { structures, lists, enums, inputs });
  }

  // The first value that is in none of its enumeration's values; undefined if all are right.
  firstWrong(action, parameters) {
    const type = this.inputs.get(action[0].toLowerCase() + action.slice(1));
    return type && this.#look(parameters, type, '');
  }

  #look(value, type, path) {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        const wrong = this.#look(item, this.lists.get(type), `${path}[${index}]`);
        if (wrong) return wrong;
      }
      return undefined;
    }
    const known = this.enums.get(type);
    if (known) return known.has(value) ? undefined : { path, value, known: [...known].slice(0, 10).join(', ') };
    const members = this.structures.get(type);
    if (!members || typeof value !== 'object' || value === null) return undefined;
    for (const [name, item] of Object.entries(value)) {
      const wrong = this.#look(item, members.get(name), path ? `${path}.${name}` : name);
      if (wrong) return wrong;
    }
    return undefined;
  }
}
