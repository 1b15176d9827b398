/** One entry of the record, in words; all of it in its details. */
import { date, element } from "./dom.js";
import { visibleLine } from "./hidden-text.js";

export function entryView(entry) {
  const { seq, at, by, device } = entry;
  const who = by ? (by.name ?? by.grant) : undefined;
  const about = [who, device].filter((text) => text !== undefined).map(visibleLine);
  return element(
    "li",
    { class: "item" },
    element("h3", {}, element("bdi", {}, visibleLine(wordsOf(entry)))),
    element(
      "p",
      { class: "soft" },
      `${seq} · `,
      element("time", { datetime: at }, date(at)),
      ...about.flatMap((text) => [" · ", element("bdi", {}, text)]),
    ),
    element(
      "details",
      {},
      element("summary", {}, "Details"),
      element("pre", { tabindex: "0", "aria-label": `Entry ${seq}` }, shown(entry)),
    ),
  );
}

function wordsOf(entry) {
  const { type, tool = "A call", action = "", name = "", state, status, code } = entry;
  const doing = action.replaceAll("_", " ");
  switch (type) {
    case "call":
      return `${tool}: ${status}${code && status !== "cancelled" ? ` (${code})` : ""}`;
    case "denied":
      return `${tool} refused${code ? ` (${code})` : ""}${entry.times > 1 ? `, ${entry.times} times` : ""}`;
    case "approval":
      return `Approval ${state}: ${entry.summary}`;
    case "grant":
      return `${entry.credential === "guest" ? "Share" : "Grant"} ${doing}: ${name}`;
    case "device":
      return `Device ${doing}: ${name}`;
    case "session":
      return `${name} ${doing}`;
    case "policy":
      return "Policy of a device changed";
    case "passkey":
      return `Passkey ${doing}: ${name}`;
    case "invite":
      return action === "closed" ? `Account closed: ${name}` : `Invite ${doing}: ${name}`;
    case "recovery_codes":
      return "Recovery codes made anew";
    case "pause":
      return entry.paused ? "AI grants stopped everywhere" : "AI grants may act again";
    case "gap":
      return "Calls that only read may be missing here";
    case "pruned":
      return `Entries up to ${entry.until} were deleted because of their age`;
    default:
      return type;
  }
}

/** Hidden characters are written out, and line breaks stay within their text. */
function shown(entry) {
  return JSON.stringify(entry, undefined, 2).split("\n").map(visibleLine).join("\n");
}
