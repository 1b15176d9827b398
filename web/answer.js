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

/** Shows an answer: its output, its image, and its metadata for who wants them. */
export function answerView({ type, output, image, metadata, code, hint, hop }, ms) {
  if (type === "error") return problemView({ message: output, code, hint, hop });
  return element(
    "div",
    { class: "card done" },
    element("p", { class: "soft" }, `Answered in ${ms} ms`),
    image && imageView(image),
    output
      ? element("pre", { tabindex: "0", role: "group", "aria-label": "Output" }, output)
      : element("p", {}, "No output."),
    metadata && Object.keys(metadata).length > 0 && metadataView(metadata),
  );
}

/** Shows a problem: what happened, what to do, and who said so. */
export function problemView({ message, code, hint, hop }) {
  const said = hop && `Said by ${HOPS[hop] ?? hop}${code ? ` (${code})` : ""}`;
  return element(
    "div",
    { class: "card problem" },
    element("p", {}, message),
    hint && element("p", {}, "What to do: ", hint),
    said && element("p", { class: "soft" }, said),
  );
}

function imageView({ media_type: type, base64_data: data }) {
  if (!IMAGES.includes(type))
    return element("p", { class: "soft" }, `An image of type ${type}, not shown here.`);
  return element("img", { src: `data:${type};base64,${data}`, alt: "The image that the tool answered with" });
}

function metadataView(metadata) {
  return element(
    "details",
    {},
    element("summary", {}, "Details for programs"),
    element("pre", { tabindex: "0" }, JSON.stringify(metadata, undefined, 2)),
  );
}
