// What a caller may do, as the host judges it: a scope that ends with `*` stands for all that begin like it.

export function satisfies(held: readonly string[], wanted: string): boolean {
  return held.some(scope =>
    scope.endsWith('*') ? wanted.startsWith(scope.slice(0, -1)) : scope === wanted);
}

export const satisfiesAll = (held: readonly string[], wanted: readonly string[]) =>
  wanted.every(scope => satisfies(held, scope));
