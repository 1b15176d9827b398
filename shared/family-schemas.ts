/** Families of tools as callers name them. Apart from the names, which the web app takes without a library for schemas. */
import * as z from "zod";
import { FAMILIES, type Family } from "./tool-families.ts";

export const familySchema = z.enum(FAMILIES);

/** Names of families with commas between them, or `all`. */
export const familiesSchema = z.string().transform((text, context): readonly Family[] => {
  if (text === "all") return FAMILIES;
  const names = text.split(",");
  const wrong = names.find((name) => !familySchema.safeParse(name).success);
  if (wrong === undefined) return FAMILIES.filter((family) => names.includes(family));
  context.addIssue(`has no family "${wrong.slice(0, 64)}": give some of ${FAMILIES.join(", ")}, or all`);
  return z.NEVER;
});
