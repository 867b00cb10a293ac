// TypeScript's view of the answers of musterd's API, from the schemas that its OpenAPI document is made of:
//   node generate_types.mjs host/api/schemas src/api_types.ts
// A test holds the result against the document that musterd serves.
import fs from 'node:fs';
import path from 'node:path';

const nameOf = reference => reference.slice(reference.lastIndexOf('/') + 1);
const quoted = name => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema, indent) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.oneOf || schema.anyOf) return (schema.oneOf ?? schema.anyOf).map(each => typeOf(each, indent)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map(type => typeOf({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array': {
      const item = typeOf(schema.items, indent);
      return /[ |]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return schema.properties ? membersOf(schema, indent) : recordOf(schema, indent);
    default:
      return 'unknown';
  }
}

function recordOf(schema, indent) {
  const { additionalProperties } = schema;
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'}>`;
}

function membersOf(schema, indent) {
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, of]) => {
    const remark = of.description ? `${inner}/** ${of.description.replaceAll('*/', '* /')} */\n` : '';
    return `${remark}${inner}${quoted(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(of, inner)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

export function generateTypes(document) {
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  const types = schemas.map(([name, schema]) => {
    const remark = schema.description ? `/** ${schema.description.replaceAll('*/', '* /')} */\n` : '';
    return `${remark}export type ${name} = ${typeOf(schema, '')};\n`;
  });
  return `// Made by web/scripts/generate_types.mjs from musterd's schemas. Do not edit.\n\n${types.join('\n')}`;
}

// The schemas of a folder, as the document has them.
export function documentOf(folder) {
  const names = fs.readdirSync(folder).filter(name => name.endsWith('.json')).sort();
  const schemas = names.map(name => [name.slice(0, -5), JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'))]);
  return { components: { schemas: Object.fromEntries(schemas) } };
}

if (path.basename(process.argv[1] ?? '') === 'generate_types.mjs')
  fs.writeFileSync(process.argv[3], generateTypes(documentOf(process.argv[2])));
