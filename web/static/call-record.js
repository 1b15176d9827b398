/** The record of one call, at an address of its own: `/#call=DEVICE/CALL`. */
import { api, part } from "./api.js";
import { button, date, element } from "./dom.js";
import { visible } from "./terminal-text.js";

const STATES = {
  awaiting_approval: "waits for a decision",
  accepted: "is running",
  finished: "is over",
  expired: "never reached the device",
  unknown: "has an unknown outcome",
};

/** Where the record of a call is shown. */
export function recordAddress(device, call) {
  return `${location.origin}/#call=${part(device)}/${part(call)}`;
}

/** Shows a call by what its address says, `DEVICE/CALL`. */
export async function callRecordView(where, done) {
  const [device, call] = where.split("/");
  const path = `GET /v1/devices/${part(device)}/calls/${part(call)}`;
  const place = element("div", { "aria-live": "polite" });
  const look = async () => place.replaceChildren(...recordLines(await api(path)));
  await look();
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "A call of ", device),
    place,
    element(
      "p",
      {},
      button("Look again", look, { busy: "Looking …" }),
      " ",
      button("Back", async () => done()),
    ),
  );
}

function recordLines({ tool, state, created, finished, outcome }) {
  const text =
    outcome && (typeof outcome.output === "string" ? outcome.output : JSON.stringify(outcome, undefined, 2));
  return [
    element("p", {}, element("strong", {}, tool), ` ${STATES[state] ?? state}.`),
    element(
      "p",
      { class: "soft" },
      "Made ",
      date(created),
      finished ? ", over " : "",
      finished ? date(finished) : "",
    ),
    text !== undefined && element("pre", { class: "output", tabindex: "0" }, visible(text)),
  ].filter(Boolean);
}
