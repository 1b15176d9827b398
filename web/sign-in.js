/** Sign in with a link, once. */
import { signIn } from "./api.js";
import { element, field, form } from "./dom.js";

/** Exchanges a link's code for a session of this browser. */
export function claim(code) {
  return signIn("/v1/claim", { code });
}

/** The account that a code signs in to, if it can be read. */
export function accountOf(code) {
  try {
    const [, claims] = code.split(".");
    return JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))).sub;
  } catch {
    return undefined;
  }
}

/** What a signed-out person sees. `waiting`: the code that brought them here and that they will return to. */
export function signInView(done, waiting) {
  const link = element("input", { type: "text", required: true, autocomplete: "off", spellcheck: "false" });
  const go = element("button", { type: "submit", class: "main wide" }, "Sign in");
  const submit = async () => {
    await claim(codeOf(link.value));
    await done();
  };
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Sign in"),
    waiting &&
      element(
        "p",
        { id: "waiting" },
        "Something is waiting for your approval under the code ",
        element("code", {}, waiting),
        ": a machine to add, or a command line to sign in. You will see it once you have signed in.",
      ),
    element(
      "p",
      {},
      "Open the sign-in link the relay printed when it started. It works only once; ",
      element("code", {}, "npm run link"),
      " on the relay's machine prints another one, and with ",
      element("code", {}, "-- --qr"),
      " also a QR code. A device that is signed in shows one under “Sign in another device”.",
    ),
    form(go, "Signing in …", submit, field("Or paste the link here", link)),
  );
}

/** The code of a pasted link, or the pasted code. */
function codeOf(text) {
  return text.trim().replace(/^.*#claim=/, "");
}
