/** A share's link that was opened: the person says whether to accept. */
import { api } from "./api.js";
import { button, element, showDone } from "./dom.js";

/** `done` is called once the person has answered. */
export function shareOfferView(code, done) {
  const accept = async () => {
    const { shared_by: by, devices } = await api("POST /v1/shares/accept", { code });
    const names = devices.map(({ name }) => name).join(", ") || "no device at present";
    await done();
    showDone(`${by} shares with you: ${names}.`);
  };
  return element(
    "section",
    { class: "card" },
    element("h2", { tabindex: "-1" }, "Somebody shares devices with you"),
    element(
      "p",
      {},
      "If you know who sent you this link, accept: the devices are then in your list, and you use them as a guest. You can leave at any time.",
    ),
    element(
      "div",
      { class: "row" },
      button("Accept", accept, { kind: "main", busy: "Accepting …" }),
      button("Not now", done),
    ),
  );
}
