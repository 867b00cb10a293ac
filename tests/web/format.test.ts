import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compact, duration, isEndless, money, plural, relative, shellWord } from '../src/format';

test('durations have two units at most', () => {
  assert.equal(duration(-5), '0 s');
  assert.equal(duration(0.4), '0 s');
  assert.equal(duration(59), '59 s');
  assert.equal(duration(3661), '1 h 1 min');
  assert.equal(duration(86_400 * 3 + 60), '3 d');
});

test('times are relative, before and after', () => {
  assert.equal(relative(0, 1000), 'now');
  assert.equal(relative(0, 61_000), '1 min ago');
  assert.equal(relative(7_200_000, 0), 'in 2 h');
});

test('words of a command line are quoted, whatever is in them', () => {
  assert.equal(shellWord('proj/build'), 'proj/build');
  assert.equal(shellWord("it's; rm -rf $HOME"), "'it'\\''s; rm -rf $HOME'");
  assert.equal(shellWord(''), "''");
  assert.equal(shellWord('a\nb'), "'a\nb'");
});

test('numbers, money and other values', () => {
  assert.equal(money(0), '0');
  assert.equal(money(0.1234567), '0.1235');
  assert.equal(money(1234.5), '1,235');
  assert.equal(plural(1, 'pool'), '1 pool');
  assert.equal(plural(2000, 'pool'), '2,000 pools');
  assert.equal(compact({ a: 1 }), '{"a":1}');
  assert.equal(compact(undefined), '');
  assert.ok(isEndless('9999-12-31T23:59:59Z'));
});
