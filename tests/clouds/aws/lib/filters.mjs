// Filters and pages, as EC2's Describe calls have them.
import { Refusal } from './refusal.mjs';

// `*` and `?` in a filter's value stand for any text and any letter; \ takes their meaning.
function pattern(text) {
  const expression = text.replace(/\\([*?\\])|([*?])|([.+^${}()|[\]\\])/g, (_, quoted, wild, special) =>
    quoted ? `\\${quoted}` : wild ? (wild === '*' ? '[\\s\\S]*' : '[\\s\\S]') : `\\${special}`);
  return new RegExp(`^${expression}$`);
}

// `fields`: filter name -> value (or values) of an item. `tag:<key>` and `tag-key` are there for whatever has tags.
export function filtered(items, filters = [], fields) {
  if (filters.length > 200) throw new Refusal('FilterLimitExceeded', 'The maximum length for a filter value is 200');
  const checks = filters.map(({ Name, Values = [] }) => {
    const tag = Name?.startsWith('tag:') ? Name.slice(4) : undefined;
    const read = tag !== undefined ? item => item.tags?.[tag] : Name === 'tag-key' ? item => Object.keys(item.tags ?? {}) : fields[Name];
    if (!read) throw new Refusal('InvalidParameterValue', `The filter '${Name}' is invalid`);
    if (Values.length > 200) throw new Refusal('FilterLimitExceeded', 'The maximum number of filter values specified on a single call is 200');
    const patterns = Values.map(pattern);
    return item => [read(item)].flat().some(value => value !== undefined && patterns.some(entry => entry.test(String(value))));
  });
  return items.filter(item => checks.every(check => check(item)));
}

// A page after NextToken. The token holds where the next page begins and whose question it was.
export function paged(items, { MaxResults, NextToken }, { least = 5, most = 1000, question = '' } = {}) {
  if (MaxResults !== undefined && (MaxResults < least || MaxResults > most))
    throw new Refusal('InvalidParameterValue', `Value ( ${MaxResults} ) for parameter maxResults is invalid. Expecting a value between ${least} and ${most}.`);
  let begin = 0;
  if (NextToken) {
    const [number, whose] = Buffer.from(NextToken, 'base64url').toString().split('\n');
    if (!/^\d+$/.test(number) || whose !== question) throw new Refusal('InvalidParameterValue', 'Unable to parse pagination token');
    begin = Number(number);
  }
  const end = begin + (MaxResults ?? most);
  const page = items.slice(begin, end);
  return { page, next: end < items.length ? Buffer.from(`${end}\n${question}`).toString('base64url') : undefined };
}
