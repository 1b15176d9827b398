/** Ways to sign in: a passkey, a link, a recovery code. */
import { signIn } from "./api.js";
import { button, element, field, form, showDone } from "./dom.js";
import { issuersView } from "./issuers.js";
import { passkeyObstacle, usePasskey } from "./passkey.js";

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
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "Sign in"),
    waiting &&
      element(
        "p",
        { id: "waiting" },
        "Something is waiting for your approval under the code ",
        element("code", {}, waiting),
        ": a machine to add, or a command line to sign in. You will see it once you have signed in.",
      ),
    passkeyPart(done),
    issuersView(),
    linkPart(done),
    recoveryPart(done),
  );
}

function passkeyPart(done) {
  const obstacle = passkeyObstacle();
  if (obstacle) return element("p", { class: "soft" }, obstacle);
  const use = async () => {
    await usePasskey();
    await done();
  };
  return element("p", {}, button("Use a passkey", use, { kind: "main wide", busy: "Waiting for you …" }));
}

function linkPart(done) {
  const link = textInput();
  const go = element("button", { type: "submit", class: "wide" }, "Sign in");
  const submit = async () => {
    await claim(codeOf(link.value));
    await done();
  };
  return element(
    "div",
    {},
    element(
      "p",
      {},
      "Or open the sign-in link the relay printed when it started. It works only once; ",
      element("code", {}, "npm run link"),
      " on the relay's machine prints another one, and with ",
      element("code", {}, "-- --qr"),
      " also a QR code. A device that is signed in shows one under “Sign in another device”.",
    ),
    form(go, "Signing in …", submit, field("Or paste the link here", link)),
  );
}

function recoveryPart(done) {
  const code = textInput("owner.XXXX-XXXX-XXXX-XXXX");
  const go = element("button", { type: "submit", class: "wide" }, "Use this code");
  const submit = async () => {
    await signIn("/v1/sign-in/recovery", { code: code.value });
    await done();
    showDone("That recovery code is used up. Add a passkey under “You”, and remove those that you lost.");
  };
  return element(
    "details",
    { class: "item" },
    element("summary", {}, "Lost your passkeys?"),
    form(go, "Signing in …", submit, field("One of your recovery codes", code)),
  );
}

function textInput(placeholder) {
  return element("input", {
    type: "text",
    required: true,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    placeholder,
  });
}

/** The code of a pasted link, or the pasted code. */
function codeOf(text) {
  return text.trim().replace(/^.*#claim=/, "");
}
