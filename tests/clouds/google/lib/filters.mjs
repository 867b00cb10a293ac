// Google's filter expressions: `labels.owner = "us" AND (status != RUNNING)`, `(a = b) (c = d)`, `labels.owner:*`, and `name eq x.*`.
import { invalid } from './refusal.mjs';

const token = /\s*(?:(\()|(\))|(>=|<=|!=|=|>|<|:)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s()=<>!:"']+))/y;

// Returns a function that says whether an item fits. `valueOf(item, path)` is undefined for what the item lacks; `knows(path)` whether there is such a field at all.
export function parseFilter(text, knows, valueOf) {
  const wrong = () => invalid('filter', text, 'Invalid list filter expression.');
  const words = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.trimEnd().length) {
    const found = token.exec(text);
    if (!found) throw wrong();
    const [, open, close, operator, double, single, word] = found;
    if (open || close || operator) words.push({ sign: open ?? close ?? operator });
    else words.push({ word: word ?? (double ?? single).replace(/\\(.)/g, '$1'), quoted: word === undefined });
  }
  let at = 0;
  const isWord = name => words[at]?.word === name && !words[at].quoted;

  const comparison = () => {
    const left = words[at++];
    let operator = words[at]?.sign;
    if (operator === undefined && ['eq', 'ne'].includes(words[at]?.word)) operator = words[at].word;
    at += 1;
    const right = words[at++];
    if (left?.word === undefined || !operator || '()'.includes(operator) || right?.word === undefined || !knows(left.word)) throw wrong();
    return item => compare(valueOf(item, left.word), operator, right.word);
  };
  const factor = () => {
    if (isWord('NOT')) {
      at += 1;
      const inner = factor();
      return item => !inner(item);
    }
    if (words[at]?.sign !== '(') return comparison();
    at += 1;
    const inner = any();
    if (words[at++]?.sign !== ')') throw wrong();
    return inner;
  };
  // Expressions side by side are an AND; OR counts more, as Google has it for explicit words.
  const all = () => {
    const parts = [factor()];
    while (at < words.length && words[at].sign !== ')' && !isWord('OR')) {
      if (isWord('AND')) at += 1;
      parts.push(factor());
    }
    return item => parts.every(part => part(item));
  };
  const any = () => {
    const parts = [all()];
    while (isWord('OR')) {
      at += 1;
      parts.push(all());
    }
    return item => parts.some(part => part(item));
  };
  const fits = any();
  if (at !== words.length) throw wrong();
  return fits;
}

function compare(value, operator, text) {
  if (operator === ':') return text === '*' ? value !== undefined : value !== undefined && String(value).toLowerCase().includes(text.toLowerCase());
  if (operator === 'eq') return new RegExp(`^(?:${text})$`).test(value ?? '');
  if (operator === 'ne') return !new RegExp(`^(?:${text})$`).test(value ?? '');
  if (operator === '!=') return value === undefined || String(value) !== text;
  if (value === undefined) return false;
  if (operator === '=') return String(value) === text;
  const [one, other] = typeof value === 'number' ? [value, Number(text)] : Number.isNaN(Date.parse(text)) ? [value, text] : [Date.parse(value), Date.parse(text)];
  return { '>': one > other, '<': one < other, '>=': one >= other, '<=': one <= other }[operator];
}
