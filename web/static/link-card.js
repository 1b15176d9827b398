/** A link that is shown once, with its QR code. */
import { button, element, showDone } from "./dom.js";

const LOCAL = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** `text` says what the link does; `id` names the element that holds it. */
export function linkCard({ link, qr_svg: svg }, { text, id, alt }) {
  const copy = button("Copy", () => navigator.clipboard.writeText(link).then(() => showDone("Copied.")));
  const isLocal = LOCAL.test(new URL(link).hostname);
  return element(
    "div",
    {},
    element("p", {}, text),
    isLocal &&
      element(
        "p",
        { class: "soft" },
        "Only this computer can reach this relay. For a phone, put it behind a proxy or deploy it (docs/guides/proxy.md).",
      ),
    element("img", { class: "qr", src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt }),
    element("div", { class: "secret", id, tabindex: "0" }, link),
    element("p", {}, copy),
  );
}
