/** Messages for schema errors, worded to follow the field's name: `limit: must be at least 1`. */
import type * as z from "zod";

type Issue = Parameters<NonNullable<z.core.$ZodErrorMap>>[0];

/** For `safeParse(value, { error: zodMessages })`; a schema's own message comes first, zod's last. */
export function zodMessages(issue: Issue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${aKind(issue.expected)}`;
    case "too_small":
      return `must ${bound("at least", issue.origin, issue.minimum)}`;
    case "too_big":
      return `must ${bound("at most", issue.origin, issue.maximum)}`;
    case "unrecognized_keys":
      return "is unknown";
    case "invalid_value":
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "invalid_format":
      return FORMATS[issue.format];
    default:
      return undefined;
  }
}

const FORMATS: Record<string, string | undefined> = {
  datetime: "must be a time in UTC such as 2026-02-12T10:30:00Z",
  uuid: "must be a UUID",
  url: "must be a URL",
};

const KINDS: Record<string, string | undefined> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function aKind(expected: string): string {
  return KINDS[expected] ?? expected;
}

function bound(what: string, origin: string, limit: number | bigint): string {
  if (origin === "string") return `have ${what} ${limit} ${limit === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set")
    return `have ${what} ${limit} ${limit === 1 ? "entry" : "entries"}`;
  return `be ${what} ${limit}`;
}
