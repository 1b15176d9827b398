/** Where this person is signed in: browsers and command lines. */
import { api, part } from "./api.js";
import { button, date, element, showDone } from "./dom.js";

const PLACES = { web: "Browser", cli: "Command line" };

/** The sessions among an account's grants. */
export function sessionsOf(tokens) {
  return tokens.filter(({ kind }) => kind in PLACES);
}

/** `ownGrant` is this browser's; `changed` shows the section again. */
export function sessionsView(sessions, ownGrant, changed) {
  const others = sessions.filter(({ id }) => id !== ownGrant);
  return element(
    "div",
    { class: "part" },
    element("h3", {}, "Signed in"),
    element("ul", { class: "items" }, ...sessions.map((session) => sessionItem(session, ownGrant, changed))),
    others.length > 0 && element("p", {}, everywhereElse(changed)),
  );
}

function everywhereElse(changed) {
  const end = async () => {
    const { revoked } = await api("POST /v1/sessions/revoke-others", {});
    showDone(`Signed out in ${revoked === 1 ? "one other place" : `${revoked} other places`}.`);
    await changed();
  };
  return button("Sign out everywhere else", end, {
    kind: "danger",
    busy: "Signing out …",
    ask: "Sign out every other browser and command line? What they have open ends at once, and so do sign-in links. Passkeys, recovery codes and tokens stay: remove those that are not yours.",
  });
}

function sessionItem({ id, name, kind, created, expires }, ownGrant, changed) {
  const end = async () => {
    await api(`DELETE /v1/tokens/${part(id)}`);
    showDone(`${name} was signed out.`);
    await changed();
  };
  return element(
    "li",
    { class: "item row spread" },
    element(
      "div",
      { class: "grow" },
      element("h4", {}, name),
      element("div", { class: "soft" }, `${PLACES[kind]} · since ${date(created)} · until ${date(expires)}`),
    ),
    id === ownGrant
      ? element("span", { class: "soft" }, "this browser")
      : button("Sign out", end, {
          kind: "danger",
          busy: "Signing out …",
          label: `Sign out ${name}, since ${date(created)}`,
          ask: `Sign out ${name}? What it has open ends at once.`,
        }),
  );
}
