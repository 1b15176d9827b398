/** What a person decides about an app that asks to be let in: who it is, where it goes, and what it may do. */
import { api } from "./api.js";
import { clearNotice, element, field, showProblem } from "./dom.js";
import { Guard } from "./guard.js";
import { checkbox, daysSelect, effectsOf, FOLDERS_HELP, linesOf } from "./token-forms.js";

/** The view, and `close`, which ends its watch over presses. */
export async function consentView(request, account) {
  const [asked, { devices }] = await Promise.all([
    api("POST /v1/oauth/requests", { request }),
    api("GET /v1/devices"),
  ]);
  const own = devices.filter(({ shared_by: by }) => by === undefined);
  const offered = asked.device === null ? own : own.filter(({ id }) => id === asked.device);
  const fields = grantFields(asked, offered);
  const allow = element("button", { type: "submit", class: "main" }, "Allow");
  const deny = element("button", { type: "button" }, "Don't allow");
  const answer = async (pressed, work) => {
    clearNotice();
    for (const one of [allow, deny]) one.disabled = true;
    try {
      const { location: there } = await work();
      location.replace(there);
    } catch (error) {
      for (const one of [allow, deny]) one.disabled = false;
      pressed.focus();
      showProblem(error);
    }
  };
  const form = element(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        void answer(allow, () => api("POST /v1/oauth/consents", { request, grant: fields.grant() }));
      },
    },
    ...(offered.length > 0 ? fields.shown : [nothingToOffer(asked)]),
    element("div", { class: "row" }, offered.length > 0 && allow, deny),
  );
  const view = element("section", { class: "card" }, ...whoAsks(asked, account), form);
  const guard = new Guard(form, document.getElementById("notice"));
  allow.addEventListener("click", (event) => guard.admits(event) || event.preventDefault());
  deny.addEventListener("click", (event) => {
    if (guard.admits(event)) void answer(deny, () => api("POST /v1/oauth/refusals", { request }));
  });
  return { view, close: () => guard.close() };
}

function whoAsks({ client, redirect_host: host, redirect_is_local: isLocal }, account) {
  const name = account.display_name ?? account.account;
  const vouched = client.host
    ? element("dd", {}, element("bdi", {}, client.host), " says that this app is its own")
    : element("dd", { class: "unverified" }, "Not verified: any app can call itself that");
  const where = whereTo(host, isLocal);
  return [
    element("h2", { tabindex: "-1" }, "Connect ", element("bdi", {}, client.name), "?"),
    element("p", {}, `It wants to use devices of ${name}, by itself, until you end it under “Access”.`),
    element(
      "dl",
      {},
      element("dt", {}, "Who it is"),
      vouched,
      element("dt", {}, "Then you go to"),
      element("dd", {}, where),
    ),
    element("p", { class: "warning" }, "Allow it only if you have just asked this app to connect."),
  ];
}

function whereTo(host, isLocal) {
  if (isLocal) return "a program on the computer where this browser runs";
  const shown = element("bdi", {}, host);
  if (!host.endsWith(":")) return shown;
  return element("span", {}, "the program that opens ", shown, " addresses on this computer");
}

/** The fields, and `grant`, what they say. It reads, unless the person wants more. */
function grantFields({ client, device }, offered) {
  const name = element("input", { type: "text", required: true, maxlength: 64, autocomplete: "off" });
  name.value = client.name;
  const boxes = offered.map(({ id, name: called }) => {
    const box = checkbox(offered.length === 1);
    box.value = id;
    box.disabled = device !== null;
    return { box, called };
  });
  const folders = element("textarea", {
    required: true,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "none",
    placeholder: "~/projects",
  });
  const writes = checkbox(false);
  const runs = checkbox(false);
  const asks = checkbox(true);
  const tools = element("textarea", { spellcheck: "false", autocomplete: "off", autocapitalize: "none" });
  const days = daysSelect("90");
  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
  const mustChoose = () => {
    const [first] = boxes;
    first?.box.setCustomValidity(chosen().length > 0 ? "" : "Choose at least one device");
  };
  for (const { box } of boxes) box.addEventListener("change", mustChoose);
  mustChoose();
  const where = element(
    "fieldset",
    { class: "choices" },
    element("legend", {}, "On these devices"),
    ...boxes.map(({ box, called }) => field(called, box)),
  );
  const may = element(
    "fieldset",
    { class: "choices" },
    element("legend", {}, "Besides reading"),
    field("It may change files", writes),
    field("It may run commands", runs, {
      help: "In a sandbox that sees only these folders, without network.",
    }),
    field("Ask me before it changes files or runs commands", asks),
  );
  const limits = element(
    "details",
    { class: "item" },
    element("summary", {}, "Only some tools"),
    field("Tools it may use", tools, {
      help: "One name per line, such as Read or Git*. Empty: all that fit.",
    }),
  );
  return {
    shown: [
      where,
      field("Folders it may work in", folders, { help: FOLDERS_HELP, required: true }),
      may,
      limits,
      field("Until", days),
      field("Name in your list", name),
    ],
    grant: () => ({
      name: name.value,
      devices: chosen(),
      paths: linesOf(folders.value),
      effects: effectsOf(writes, runs),
      ask: asks.checked ? [{ effects: ["write", "execute"] }] : [],
      tools: linesOf(tools.value),
      days: Number(days.value),
    }),
  };
}

function nothingToOffer({ device }) {
  const text =
    device === null
      ? "You have no device yet. Add one on the relay's page, then connect the app again."
      : "The app asks for a device that is not among yours. Check the address that you gave it.";
  return element("p", { class: "problem" }, text);
}
