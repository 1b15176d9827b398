/** Sign in another device: a link that works once, also shown as a QR code. */
import { api } from "./api.js";
import { button, element } from "./dom.js";
import { linkCard } from "./link-card.js";

/** The button, and what it shows until the link expires. */
export function anotherDeviceView() {
  const shown = element("div", { role: "status" });
  let over;
  const make = async () => {
    const made = await api("POST /v1/sign-in-links", {});
    clearTimeout(over);
    shown.replaceChildren(linkView(made));
    over = setTimeout(
      () => shown.replaceChildren("That link has expired. Make another one."),
      made.expires_in * 1000,
    );
  };
  return element(
    "details",
    { class: "item" },
    element("summary", {}, "Sign in another device"),
    element(
      "p",
      {},
      "Make a link for your phone or another computer. Whoever opens it first is signed in as you, and can do everything you can do here.",
    ),
    element("p", {}, button("Make a link", make, { busy: "Making …" })),
    shown,
  );
}

function linkView(made) {
  const minutes = Math.round(made.expires_in / 60);
  return linkCard(made, {
    text: `Scan it with your phone, or open the link. It works once, within ${minutes} minutes.`,
    id: "sign-in-link",
    alt: "QR code of the sign-in link",
  });
}
