/** AI grants and own script tokens: show, change, revoke. */
import { api, part } from "./api.js";
import { button, date, element, showDone } from "./dom.js";
import { changeTokenView, makeAiTokenView, makeScriptTokenView } from "./token-forms.js";

const PLACES = { web: "Browser", cli: "Command line", api: "Token" };
const CREDENTIALS = { ai: "AI grant", script: "Own script: acts as you", guest: "Share" };

/** What a token is, in words. */
export function kindOf({ kind, credential, client, shared_with: guest }) {
  if (client) return client.host ? `AI app of ${client.host}` : "AI app, not verified";
  if (credential === "guest") return guest ? `Shared with ${guest}` : "Share, not accepted yet";
  return CREDENTIALS[credential] ?? PLACES[kind] ?? kind;
}

/** The list and the forms; `refresh` reads the list again. */
export async function tokensView() {
  const list = element("div");
  const title = element("h2", { tabindex: "-1" }, "Access");
  // The button that had the focus is gone with its token.
  const changed = () => refresh().then(() => title.focus({ preventScroll: true }));
  const refresh = async () => list.replaceChildren(listView((await api("GET /v1/tokens")).tokens, changed));
  await refresh();
  const view = element(
    "section",
    { class: "card" },
    title,
    element(
      "p",
      { class: "soft" },
      "Programs, AIs and other people who may call your devices. Changes and revoking take effect on open connections at once.",
    ),
    list,
    makeAiTokenView(refresh),
    makeScriptTokenView(refresh),
  );
  return { view, refresh };
}

function listView(all, changed) {
  const tokens = all.filter(({ credential }) => credential !== "person");
  if (tokens.length === 0) return element("p", {}, "No program has access yet.");
  return element("ul", { class: "items" }, ...tokens.map((token) => tokenItem(token, changed)));
}

function tokenItem(token, changed) {
  const { name, summary, created, expires } = token;
  const revoke = button("Revoke", () => revokeToken(token, changed), {
    kind: "danger",
    busy: "Revoking …",
    label: `Revoke ${name}`,
    ask: `Revoke ${name}? Anyone using it is cut off at once.`,
  });
  return element(
    "li",
    { class: "item" },
    element(
      "div",
      { class: "row spread" },
      element(
        "div",
        { class: "grow" },
        element(
          "div",
          { class: "row" },
          element("h3", {}, name),
          element("span", { class: "soft" }, kindOf(token)),
        ),
        element("div", {}, sentence(summary)),
        element("div", { class: "soft" }, `since ${date(created)} · until ${date(expires)}`),
      ),
      revoke,
    ),
    changeTokenView(token, changed),
  );
}

function sentence(summary) {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

async function revokeToken({ id, name }, changed) {
  await api(`DELETE /v1/tokens/${part(id)}`);
  showDone(`${name} was revoked.`);
  await changed();
}
