/** What a tool answered, or why it could not. */
import { element } from "./dom.js";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const HOPS = {
  caller: "this page",
  relay: "the relay",
  device: "the device",
  agent: "the agent on the device",
  tool: "the tool",
};

/** A problem: what happened, what to do, and who said so. Of a long message the first line; the rest is output. */
export function problemLines({ message, code, hint, hop }) {
  const said = hop && `From ${HOPS[hop] ?? hop}${code ? ` (${code})` : ""}`;
  return [
    element("p", {}, message.split("\n")[0]),
    hint && element("p", {}, "What to do: ", hint),
    said && element("p", { class: "soft" }, said),
  ].filter(Boolean);
}

export function imageView({ media_type: type, base64_data: data }) {
  if (!IMAGES.includes(type))
    return element("p", { class: "soft" }, `An image of type ${type}, which can't be shown here.`);
  return element("img", { src: `data:${type};base64,${data}`, alt: "The image the tool returned" });
}

export function metadataView(metadata) {
  return element(
    "details",
    {},
    element("summary", {}, "Details for programs"),
    element("pre", { tabindex: "0" }, JSON.stringify(metadata, undefined, 2)),
  );
}
