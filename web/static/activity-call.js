/** One call, as it runs or as it ended: who made it, where, with which parameters, and what came of it. */
import { api, part } from "./api.js";
import { button, element } from "./dom.js";
import { duration } from "./duration.js";
import { visibleLine } from "./hidden-text.js";

const ENDS = { success: "Done", error: "Failed", cancelled: "Cancelled", unknown: "Outcome unknown" };

export class ActivityCall {
  entry;
  view;

  /** `name`: the device's, if it is known. */
  constructor(entry, name) {
    const { device, tool, at, grant, input } = entry;
    const what = `${visibleLine(tool) || "A call"} on ${visibleLine(name ?? device)}`;
    const isRunning = entry.type === "started";
    this.entry = entry;
    this.view = element(
      "li",
      { class: "item" },
      element(
        "div",
        { class: "row spread" },
        element(
          "div",
          { class: "grow" },
          element("h3", {}, element("bdi", {}, what)),
          element(
            "p",
            { class: "soft" },
            element("bdi", {}, visibleLine(grant.name ?? grant.id)),
            ` · ${isRunning ? "since " : ""}`,
            element("time", { datetime: at }, timeOf(at)),
            isRunning ? "" : ` · ${endOf(entry)}`,
          ),
        ),
        isRunning && button("Cancel", () => cancel(entry), { label: `Cancel ${what}`, busy: "Cancelling …" }),
      ),
      ...Object.entries(input).map(([field, value]) => element("p", {}, parameter(field, value))),
      entry.preview && element("pre", { tabindex: "0", "aria-label": `Preview of ${what}` }, entry.preview),
    );
  }
}

/** Its end is shown when the device tells it. */
function cancel({ device, call }) {
  return api(`POST /v1/devices/${part(device)}/calls/${part(call)}/cancel`);
}

function parameter(field, value) {
  return element("code", {}, element("bdi", {}, `${visibleLine(field)}: ${visibleLine(value)}`));
}

function endOf({ type, status, code, exit, ms }) {
  const end = type === "refused" ? "Refused" : ENDS[status];
  const why = status === "cancelled" ? undefined : code;
  const details = [why, exit !== undefined && exit !== 0 && `exit ${exit}`].filter(Boolean).join(", ");
  return `${end}${details ? ` (${details})` : ""}${type === "refused" ? "" : ` after ${duration(ms)}`}`;
}

function timeOf(at) {
  return new Date(at).toLocaleTimeString([], { timeStyle: "medium" });
}
