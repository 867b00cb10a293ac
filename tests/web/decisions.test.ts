import assert from 'node:assert/strict';
import { test } from 'node:test';

import { difference, hunks } from '../src/difference';
import { hrefTo, parseRoute } from '../src/route';
import { satisfies, satisfiesAll } from '../src/scopes';
import { generateTypes } from '../scripts/generate_types.mjs';

test('scopes are judged as the host judges them', () => {
  assert.ok(!satisfies([], 'muster:get:pools'));
  assert.ok(!satisfies(['muster:get:pool'], 'muster:get:pools'));
  assert.ok(!satisfies(['muster:*x'], 'muster:get'));
  assert.ok(satisfies(['muster:get:*'], 'muster:get:pools'));
  assert.ok(satisfies(['*'], 'anything'));
  assert.ok(!satisfiesAll(['a'], ['a', 'b']));
});

test('an address survives every name', () => {
  for (const name of ['a/b', 'a b', '100%', '#?&=', '<script>', '', 'ä']) {
    const { path, query } = parseRoute(hrefTo(['pools', name], { search: name }));
    assert.deepEqual(path, name ? ['pools', name] : ['pools']);
    assert.equal(query.get('search') ?? '', name);
  }
  assert.deepEqual(parseRoute('#/a/%zz').path, ['a', '%zz'], 'a broken escape stays as it is');
  assert.deepEqual(parseRoute('').path, []);
});

test('differences are the lines that differ', () => {
  assert.deepEqual(difference('a\nb', 'a\nb').map(({ kind }) => kind), ['same', 'same']);
  assert.deepEqual(difference('a\nb\nc', 'a\nx\nc').map(({ kind, text }) => `${kind} ${text}`),
    ['same a', 'removed b', 'added x', 'same c']);
  const many = Array.from({ length: 50 }, (_, index) => String(index));
  assert.equal(hunks(difference(many.join('\n'), [...many, 'new'].join('\n'))).length, 4);
  const huge = Array.from({ length: 4000 }, (_, index) => String(index)).join('\n');
  assert.equal(difference(huge, huge.replaceAll('1', 'x')).length > 4000, true, 'it ends');
});

test('types follow the schemas', () => {
  const text = generateTypes({
    components: { schemas: { Pool: { type: 'object', required: ['id'], properties: {
      id: { type: 'string', description: 'a */ b' }, 'odd name': { type: ['string', 'null'] }, list: { type: 'array', items: { $ref: '#/components/schemas/Other' } },
      kind: { enum: ['a', 'b'] }, any: true } } } },
  });
  for (const part of ['export type Pool', 'id: string;', 'a * / b', '"odd name"?: string | null;', 'list?: Other[];', 'kind?: "a" | "b";', 'any?: unknown;'])
    assert.ok(text.includes(part), `${part} is not in ${text}`);
});
