/** The operations of a description, under their tags. */
import { METHODS, type OpenApi, type Operation } from "./openapi.ts";

export interface Listed extends Operation {
  /** Names it in the address of the page. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

export interface Group {
  readonly name: string;
  readonly about: string;
  readonly operations: readonly Listed[];
}

/** In the order of the description's tags. Those with none of them come last. */
export function groupsOf({ tags = [], paths = {} }: OpenApi): Group[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      const id = operation?.operationId ?? `${method}-${path}`;
      return operation ? [{ ...operation, id, method, path }] : [];
    }),
  );
  const names = new Set(tags.map(({ name }) => name));
  const untagged = operations.filter(({ tags: [first = ""] = [] }) => !names.has(first));
  return [
    ...tags.map(({ name, description = "" }) => ({
      name,
      about: description,
      operations: operations.filter(({ tags: [first] = [] }) => first === name),
    })),
    { name: "Other", about: "", operations: untagged },
  ].filter((group) => group.operations.length > 0);
}

/** The groups with those operations only that have each of the words somewhere. */
export function matching(groups: readonly Group[], text: string): readonly Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return groups;
  return groups
    .map((group) => ({
      ...group,
      operations: group.operations.filter((operation) => {
        const said = saidOf(operation);
        return words.every((word) => said.includes(word));
      }),
    }))
    .filter(({ operations }) => operations.length > 0);
}

export function countOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { operations }) => sum + operations.length, 0);
}

function saidOf({ id, method, path, tags = [], summary, description, parameters = [] }: Listed): string {
  const names = parameters.map(({ name }) => name);
  return [id, method, path, summary, description, ...tags, ...names].join("\n").toLowerCase();
}
