/** The page where an app sends a person's browser: they sign in, if they have not, and then decide. */
import { onOtherSession, signedInAccount, signOut } from "./api.js";
import { consentView } from "./consent.js";
import { button, clearNotice, element, showProblem } from "./dom.js";
import { signInView } from "./sign-in.js";
import { keepRequest, takeRequest } from "./waiting.js";

const main = document.getElementById("main");
/** As the app wrote it: the relay checks it again with the answer. */
const request = location.search.slice(1);
let close = () => undefined;

async function start() {
  main.setAttribute("aria-busy", "true");
  close();
  try {
    const account = await signedInAccount();
    showAccount(account);
    if (account) await showRequest(account);
    else showSignIn();
    main.querySelector("h2").focus();
  } catch (error) {
    showProblem(error);
  } finally {
    main.setAttribute("aria-busy", "false");
  }
}

/** Some ways to sign in lead away from this page; the request waits. */
function showSignIn() {
  keepRequest(request);
  const waits = element(
    "p",
    { class: "card", id: "waiting" },
    "An app wants to use your devices. You will see which one, and decide, once you have signed in.",
  );
  main.replaceChildren(waits, signInView(start));
}

async function showRequest(account) {
  takeRequest();
  const shown = await consentView(request, account);
  close = shown.close;
  main.replaceChildren(shown.view);
}

function showAccount(account) {
  const place = document.getElementById("account");
  if (!account) return place.replaceChildren();
  const name = account.display_name ?? account.account;
  const out = button(
    "Sign out",
    async () => {
      await signOut();
      clearNotice();
      await start();
    },
    { busy: "Signing out …" },
  );
  place.replaceChildren(element("span", { class: "soft" }, `Signed in as ${name}`), out);
}

onOtherSession(start);
await start();
