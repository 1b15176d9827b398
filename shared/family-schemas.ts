/** Families of tools as callers name them. Apart from the names, which the web app takes without a library for schemas. */
import * as z from "zod";
import { FAMILIES, type Family } from "./tool-families.ts";

export const familySchema = z.enum(FAMILIES);

const ALL = "all";

/** Names of families with commas between them, in any order, or `all`. */
export const familiesSchema = z.string().transform((text, context): readonly Family[] => {
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => name !== ALL && !familySchema.safeParse(name).success);
  if (wrong === undefined) return FAMILIES.filter((family) => names.includes(ALL) || names.includes(family));
  const what = wrong === "" ? "names no family" : `has no family "${wrong.slice(0, 64)}"`;
  context.addIssue(`${what}: give some of ${FAMILIES.join(", ")}, or all`);
  return z.NEVER;
});
