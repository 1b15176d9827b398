/** The section of the person who is signed in: how to sign in again, and where they are signed in. */
import { anotherDeviceView } from "./another-device.js";
import { api } from "./api.js";
import { element } from "./dom.js";
import { passkeysView } from "./passkeys.js";
import { recoveryCodesView } from "./recovery-codes.js";
import { sessionsOf, sessionsView } from "./sessions.js";

/** `grant` is this browser's. */
export async function youView({ grant }) {
  const title = element("h2", { tabindex: "-1" }, "You");
  const [passkeys, sessions] = [element("div"), element("div")];
  const show = async () => {
    const [{ passkeys: all }, { tokens }] = await Promise.all([
      api("GET /v1/passkeys"),
      api("GET /v1/tokens"),
    ]);
    passkeys.replaceChildren(passkeysView(all, changed));
    sessions.replaceChildren(sessionsView(sessionsOf(tokens), grant, changed));
  };
  // The button that had the focus is gone with its passkey or session.
  const changed = () => show().then(() => title.focus({ preventScroll: true }));
  const [left] = await Promise.all([api("GET /v1/recovery-codes"), show()]);
  return element(
    "section",
    { class: "card" },
    title,
    passkeys,
    recoveryCodesView(left),
    sessions,
    anotherDeviceView(),
  );
}
