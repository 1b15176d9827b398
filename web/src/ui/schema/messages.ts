/** What a rule of a schema wants, in words. */

interface Broken {
  readonly keyword: string;
  /** As the validator says it. */
  readonly error: string;
}

/** A longer pattern tells a person nothing, in characters. */
const READABLE = 60;

/** `rule`: the keyword's value in the schema. */
export function checkMessage({ keyword, error }: Broken, rule: unknown): string {
  switch (keyword) {
    case "minLength":
      return rule === 1 ? "It can't be empty." : `It has to have at least ${rule} characters.`;
    case "maxLength":
      return `It can have at most ${rule} characters.`;
    case "minimum":
      return `It has to be at least ${rule}.`;
    case "maximum":
      return `It can be at most ${rule}.`;
    case "exclusiveMinimum":
      return `It has to be more than ${rule}.`;
    case "exclusiveMaximum":
      return `It has to be less than ${rule}.`;
    case "minItems":
      return rule === 1 ? "At least one is needed." : `At least ${rule} are needed.`;
    case "maxItems":
      return `There can be at most ${rule}.`;
    case "pattern":
      return patternMessage(rule);
    case "format":
      return rule === "date-time"
        ? "Write a time like 2026-01-31T09:00:00Z."
        : `It has to be a valid ${rule}.`;
    case "type":
      return `It has to be of type ${[rule].flat().join(" or ")}.`;
    case "enum":
      return "It is none of the values that the tool knows.";
    case "anyOf":
    case "oneOf":
      return "It has none of the forms that the tool takes.";
    case "false":
      return "The tool has no such field.";
    default:
      return error;
  }
}

function patternMessage(pattern: unknown): string {
  const isReadable = typeof pattern === "string" && pattern.length <= READABLE;
  return isReadable
    ? `It has to fit the pattern ${pattern}`
    : "It does not have the form that the tool wants.";
}
