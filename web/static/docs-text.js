/** Text of a description, as nodes. */
import { element } from "./dom.js";

/** What stands between backticks is code; all else is text. */
export function prose(text = "") {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? element("code", {}, part) : part))
    .filter((part) => part !== "");
}

/** JSON to be read. */
export function json(value) {
  return JSON.stringify(value, null, 2);
}
