/** Sign in at an issuer (OpenID Connect): off to its page, and back to this one. */
import { api, beginSignIn, finishSignIn, part } from "./api.js";
import { button, element, showProblem } from "./dom.js";

/** A button for each issuer of this relay; nothing where there are none. */
export function issuersView() {
  const place = element("div");
  void fill(place).catch(showProblem);
  return place;
}

/** What an issuer sent this browser back with. It counts only in the browser that began. */
export function finishAtIssuer(issuer, response = "") {
  const state = new URLSearchParams(response).get("state") ?? "";
  return finishSignIn(`${pathOf(issuer)}/finish`, { response }, state);
}

async function fill(place) {
  const { oidc } = await api("GET /v1/sign-in");
  place.replaceChildren(...oidc.map(issuerButton));
}

function issuerButton({ id, name }) {
  const leave = async () => {
    const { location: there } = await beginSignIn(pathOf(id));
    location.assign(there);
  };
  return element("p", {}, button(`Sign in with ${name}`, leave, { kind: "main wide" }));
}

function pathOf(issuer) {
  return `/v1/sign-in/oidc/${part(issuer)}`;
}
