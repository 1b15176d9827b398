/** The account's record: who did what on which machine, a page at a time; verified in this browser, and saved as a file. */
import { api, openFile } from "./api.js";
import { button, element, field } from "./dom.js";
import { verifyRecord } from "./record-check.js";
import { entryView } from "./record-entry.js";

const TYPES = [
  "call",
  "denied",
  "approval",
  "grant",
  "policy",
  "device",
  "session",
  "passkey",
  "recovery_codes",
  "invite",
  "pause",
  "gap",
  "pruned",
];
const PAGE = 50;

export function recordView() {
  const type = element(
    "select",
    {},
    element("option", { value: "" }, "Everything"),
    ...TYPES.map((one) => element("option", { value: one }, one.replaceAll("_", " "))),
  );
  const device = element("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const list = element("ul", { class: "items", "aria-label": "Entries" });
  const note = element("p", { class: "soft", role: "status" });
  const verdict = element("p", { role: "status" });
  let next;

  const filter = () => {
    const wanted = { type: type.value, device: device.value.trim() };
    return Object.entries(wanted).filter(([, value]) => value !== "");
  };
  const load = async (before) => {
    const query = new URLSearchParams([
      ...filter(),
      ["limit", PAGE],
      ...(before ? [["before", before]] : []),
    ]);
    const page = await api(`GET /v1/audit?${query}`);
    next = page.next;
    if (!before) list.replaceChildren();
    list.append(...page.entries.map(entryView));
    older.hidden = next === null;
    note.textContent = list.children.length > 0 ? "" : "Nothing of the kind is recorded.";
    note.hidden = note.textContent === "";
  };
  const show = button("Show", () => load(), { kind: "main", busy: "Loading …" });
  const older = button("Older entries", () => load(next), { busy: "Loading …" });
  const verify = button(
    "Verify the record",
    async () => {
      verdict.className = "";
      verdict.textContent = "Verifying …";
      const { isSound, text } = await verifyRecord((entries) => {
        verdict.textContent = `Verifying … ${entries} entries so far`;
      }).catch((error) => {
        verdict.textContent = "";
        throw error;
      });
      verdict.className = isSound ? "" : "problem card";
      verdict.textContent = text;
    },
    { busy: "Verifying …" },
  );
  older.hidden = true;
  return element(
    "section",
    { class: "card", "aria-label": "Record" },
    element("h2", { tabindex: "-1" }, "Record"),
    element(
      "p",
      { class: "soft" },
      "Who did what on which machine, for 400 days. Each entry is chained to the one before, so that a change shows. ",
      "Your machines keep the ends of the chain: ",
      element("code", {}, "matrx audit verify"),
      " on one of them compares with those, too.",
    ),
    field("What", type),
    field("Device", device, { help: "Its id; empty: all of them" }),
    element("p", { class: "row" }, show, verify, ...["jsonl", "csv"].map(saveButton)),
    verdict,
    note,
    list,
    element("p", {}, older),
  );
}

function saveButton(format) {
  const name = `matrx-record.${format}`;
  return button(
    `Save as ${format === "csv" ? "CSV" : "JSON lines"}`,
    async () => {
      const url = URL.createObjectURL(await openFile(`GET /v1/audit/export?format=${format}`));
      element("a", { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    },
    { busy: "Saving …" },
  );
}
