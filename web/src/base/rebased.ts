/** What somebody changed of an object that others change too. */

/** The names under which two of them have something else. */
export function differing(one: object, other: object): readonly string[] {
  const [a, b] = [membersOf(one), membersOf(other)];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]),
  );
}

/** `now`, with all that `mine` has otherwise than `base`, what it began with. */
export function rebased<T extends object>(base: T, mine: T, now: T): T {
  const members = membersOf(mine);
  const changed = Object.fromEntries(differing(base, mine).map((name) => [name, members[name]]));
  return Object.fromEntries(
    Object.entries({ ...now, ...changed }).filter(([, value]) => value !== undefined),
  ) as T;
}

function membersOf(value: object): Readonly<Record<string, unknown>> {
  return { ...value };
}
