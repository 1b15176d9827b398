/** What an answer has besides its text and its picture. */
import { imageView } from "./answer.js";
import { element } from "./dom.js";
import { visibleLine } from "./hidden-text.js";
import { visible } from "./terminal-text.js";

const AUDIO = [
  "audio/wav",
  "audio/x-wav",
  "audio/mpeg",
  "audio/mp4",
  "audio/ogg",
  "audio/webm",
  "audio/flac",
];
/** Parts that are shown, and characters of each. */
const MOST = 50;
const CHARS = 20_000;

/** The parts to show; texts, and the picture that the answer has by itself, are left out. */
export function contentViews(content) {
  const others = content.filter(({ type }) => type !== "text");
  const firstImage = others.findIndex(({ type }) => type === "image");
  const shown = others.filter((_, at) => at !== firstImage);
  const views = shown.slice(0, MOST).map(partView);
  const more = shown.length - MOST;
  return more > 0 ? [...views, note(`And ${more} more parts.`)] : views;
}

function partView(part) {
  switch (part.type) {
    case "image":
      return imageView({ media_type: part.mimeType, base64_data: part.data });
    case "audio":
      return audioView(part);
    case "resource_link":
      return note(`Link: ${line(part.title ?? part.name)} (${line(part.uri)})`);
    case "resource":
      return resourceView(part.resource ?? {});
    default:
      return note(`A part of type ${line(part.type)}, which can't be shown here.`);
  }
}

function audioView({ mimeType, data }) {
  if (!AUDIO.includes(mimeType)) return note(`Audio of type ${line(mimeType)}, which can't be played here.`);
  return element("audio", { controls: true, src: `data:${mimeType};base64,${data}` });
}

function resourceView({ uri, text, mimeType }) {
  const title = element("summary", {}, `Resource: ${line(uri)}`);
  if (typeof text !== "string") return note(`Resource: ${line(uri)} (${line(mimeType ?? "binary")})`);
  const cut = text.length > CHARS ? `${text.slice(0, CHARS)}…` : text;
  return element("details", {}, title, element("pre", { tabindex: "0" }, visible(cut)));
}

/** Whatever a device wrote there, on one line. */
function line(text) {
  return visibleLine(String(text).slice(0, 300));
}

function note(text) {
  return element("p", { class: "soft" }, text);
}
