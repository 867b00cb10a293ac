// Times, durations, numbers and money in words.

const units: [number, string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** "2 h 5 min"; two units at most. */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  if (rest === 0) return '0 s';
  const parts: string[] = [];
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size);
    if (count > 0 || (parts.length > 0 && rest > 0)) {
      if (count > 0) parts.push(`${count} ${unit}`);
      rest -= count * size;
      if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
    }
  }
  return parts.join(' ');
}

/** "3 min ago", "in 2 h". */
export function relative(time: number, now: number): string {
  const seconds = Math.round((now - time) / 1000);
  if (Math.abs(seconds) < 2) return 'now';
  const [size, unit] = units.find(([each]) => Math.abs(seconds) >= each) ?? [1, 's'];
  const words = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/** The year in which a time stands for "without an end". */
export const isEndless = (text: string) => text.startsWith('9999-');

export function absolute(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', ' UTC');
}

export function count(number: number): string {
  return number.toLocaleString('en', { maximumFractionDigits: 2 });
}

export function money(dollarsPerHour: number): string {
  const digits = Math.abs(dollarsPerHour) >= 100 ? 0 : Math.abs(dollarsPerHour) >= 1 ? 2 : 4;
  return dollarsPerHour === 0 ? '0' : dollarsPerHour.toLocaleString('en', { maximumFractionDigits: digits });
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A value of a document on one line. */
export function compact(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value) ?? '';
}

/** As a word of a command line: nothing in it is for the shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
