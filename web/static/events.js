/** What a device reports by itself: its last events, the newest first, and new ones as they come. */
import { api, openSocket, part } from "./api.js";
import { date, element } from "./dom.js";

/** As many as the relay keeps. */
const KEPT = 100;
/** Pause before a broken connection is opened again, in milliseconds. */
const AGAIN = 5000;
/** Before all events. */
const BEGINNING = "00000000-0000-0000-0000-000000000000";
/** The session is over, may not read events, or the device was removed. */
const FINAL_STATUSES = [401, 403, 404];

const TYPES = new Map([
  ["low_disk_space", "Low disk space"],
  ["high_cpu_usage", "High processor use"],
  ["new_file_detected", "File changed"],
  ["service_down", "Service down"],
  ["error_occurred", "Error"],
]);
const SEVERITIES = new Map([
  ["info", "Info"],
  ["warning", "Warning"],
  ["critical", "Critical"],
]);

/** Shows a device's events until `close`. `changed` is called when conditions begin or end. */
export function eventsView(device, { changed }) {
  const list = new EventList();
  const place = element("div", {}, list.view);
  const note = element("p", { class: "soft", role: "status" }, "Loading …");
  const live = follow(device.id, {
    last: () => list.last,
    onEvents: (events) => {
      if (list.add(events)) changed();
      note.textContent = list.isEmpty ? "Nothing has been reported yet." : "";
      // What was there before is not read out.
      place.setAttribute("aria-live", "polite");
    },
    onTrouble: (text) => {
      note.textContent = text;
    },
  });
  const view = element(
    "section",
    { class: "card", "aria-label": `Events of ${device.name}` },
    element("h2", { tabindex: "-1" }, "Events of ", device.name),
    note,
    place,
  );
  return { view, close: live.close };
}

/** Reads what there is, then listens; begins again when the connection breaks. */
function follow(device, { last, onEvents, onTrouble }) {
  let socket;
  let timer;
  let closed = false;
  const again = (text) => {
    if (closed) return;
    onTrouble(text);
    timer = setTimeout(begin, AGAIN);
  };
  const begin = async () => {
    try {
      const { events } = await api(`GET /v1/devices/${part(device)}/events`);
      if (!closed) onEvents(events);
    } catch (error) {
      if (!FINAL_STATUSES.includes(error.status)) return again(`${error.message} Trying again …`);
      if (!closed) onTrouble(`New events are no longer shown. ${error.message}`);
      return;
    }
    socket = await openSocket(`/v1/devices/${part(device)}/ws`).catch(() => undefined);
    if (!socket) return again("Live connection lost. Reconnecting …");
    if (closed) return socket.close();
    socket.onopen = () => socket.send(JSON.stringify({ action: "events", after: last() ?? BEGINNING }));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === "event" && !closed) onEvents([frame.event]);
    };
    socket.onclose = () => again("Live connection lost. Reconnecting …");
  };
  void begin();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}

/** The newest event stands at the top. */
class EventList {
  view = element("ul", { class: "items" });
  /** By id, the newest last. */
  #shown = new Map();

  get last() {
    return [...this.#shown.keys()].at(-1);
  }

  get isEmpty() {
    return this.#shown.size === 0;
  }

  /** Shows those that are not shown yet. True: a condition began or ended. */
  add(events) {
    const fresh = events.filter(({ id }) => !this.#shown.has(id));
    for (const event of fresh) {
      if (event.key !== null && (event.open || event.resolved)) this.#end(event);
      const item = eventItem(event);
      this.#shown.set(event.id, { event, item });
      this.view.prepend(item);
      const [oldest] = this.#shown.keys();
      if (this.#shown.size > KEPT) {
        this.#shown.get(oldest).item.remove();
        this.#shown.delete(oldest);
      }
    }
    return fresh.some(({ key }) => key !== null);
  }

  /** What was open of the same condition is not any more. */
  #end({ event_type, key }) {
    for (const { event, item } of this.#shown.values()) {
      if (event.event_type === event_type && event.key === key) item.querySelector(".open")?.remove();
    }
  }
}

function eventItem(event) {
  const { event_type: type, severity, key, data, resolved, open, timestamp, received, dropped } = event;
  const kind = SEVERITIES.get(severity);
  const about = key ?? filesOf(event);
  return element(
    "li",
    { class: "item" },
    element(
      "div",
      { class: "row" },
      element("h3", {}, TYPES.get(type) ?? type.replaceAll("_", " ")),
      severity && element("span", { class: `severity ${kind ? severity : ""}` }, kind ?? severity),
      open && element("span", { class: "severity open" }, "Open"),
      resolved && element("span", { class: "severity" }, "Over"),
    ),
    element(
      "p",
      { class: "soft" },
      about ? `${about} · ` : "",
      element("time", { datetime: received }, date(received)),
      timestamp && isElsewhen(timestamp, received) ? ` · the device says ${timestamp}` : "",
    ),
    Object.keys(data).length > 0 && dataView(data),
    dropped > 0 &&
      element("p", { class: "soft" }, `${dropped} earlier ones were dropped: too many came at once.`),
  );
}

/** Which files an event is about, as `scan.pdf and 2 more in /home/ann/scans`; undefined for other events. */
function filesOf({ event_type: type, data: { folder, count, files } }) {
  if (type !== "new_file_detected" || typeof files?.[0]?.path !== "string") return undefined;
  return `${files[0].path}${count > 1 ? ` and ${count - 1} more` : ""} in ${folder}`;
}

/** The device's clock and the relay's differ by more than a minute, or the device's cannot be read. */
function isElsewhen(timestamp, received) {
  return !(Math.abs(Date.parse(timestamp) - Date.parse(received)) < 60_000);
}

function dataView(data) {
  const rows = Object.entries(data).flatMap(([name, value]) => [
    element("dt", {}, name.replaceAll("_", " ")),
    element("dd", {}, textOf(value)),
  ]);
  return element("details", {}, element("summary", {}, "Details"), element("dl", {}, ...rows));
}

/** Lists with one entry a line, records as `name: value, ...`. */
function textOf(value) {
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${textOf(part)}`)
    .join(", ");
}
