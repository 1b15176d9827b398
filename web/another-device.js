/** Sign in another device: a link that works once, also shown as a QR code. */
import { api } from "./api.js";
import { button, element, showDone } from "./dom.js";

const LOCAL = /^(localhost|127\.[\d.]+|\[::1\])$/;

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

function linkView({ link, expires_in: seconds, qr_svg: svg }) {
  const copy = button("Copy", () => navigator.clipboard.writeText(link).then(() => showDone("Copied.")));
  const isLocal = LOCAL.test(new URL(link).hostname);
  return element(
    "div",
    {},
    element(
      "p",
      {},
      `Scan it with your phone, or open the link. It works once, within ${Math.round(seconds / 60)} minutes.`,
    ),
    isLocal &&
      element(
        "p",
        { class: "soft" },
        "Only this computer can reach this relay. For a phone, put it behind a proxy or deploy it (docs/guides/proxy.md).",
      ),
    element("img", {
      class: "qr",
      src: `data:image/svg+xml,${encodeURIComponent(svg)}`,
      alt: "QR code of the sign-in link",
    }),
    element("div", { class: "secret", id: "sign-in-link", tabindex: "0" }, link),
    element("p", {}, copy),
  );
}
