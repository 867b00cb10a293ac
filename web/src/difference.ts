// The lines that differ between two texts.

export type Line = { kind: 'same' | 'added' | 'removed'; text: string };

const mostLines = 3000; // beyond that, everything between the first and the last difference counts as different

const same = (text: string): Line => ({ kind: 'same', text });
const removed = (text: string): Line => ({ kind: 'removed', text });
const added = (text: string): Line => ({ kind: 'added', text });

/** The shortest edit, by the longest common subsequence of what is between equal beginnings and ends. */
export function difference(before: string, after: string): Line[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function middle(a: string[], b: string[]): Line[] {
  if (a.length * b.length > mostLines * mostLines) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; --i)
    for (let j = b.length - 1; j >= 0; --j)
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! });
      ++i;
      ++j;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) lines.push(removed(a[i++]!));
    else lines.push(added(b[j++]!));
  }
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/** Only what differs, with a few lines around it. */
export function hunks(lines: Line[], around = 3): Line[] {
  const near = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind !== 'same') for (let at = index - around; at <= index + around; ++at) near.add(at);
  });
  return lines.flatMap((line, index) => {
    if (near.has(index)) return [line];
    return near.has(index - 1) ? [{ kind: 'same' as const, text: '⋯' }] : [];
  });
}
