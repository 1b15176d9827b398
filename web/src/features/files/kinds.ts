/** What a file is, by its name: which picture stands for it, and how it is shown. */

export type Kind = "markdown" | "image" | "audio" | "video" | "pdf" | "archive" | "unknown";

const ENDINGS: Readonly<Record<Exclude<Kind, "unknown">, string>> = {
  markdown: "md markdown",
  image: "png jpg jpeg gif webp avif bmp ico svg",
  audio: "mp3 m4a ogg oga opus wav flac aac",
  video: "mp4 m4v webm mov mkv ogv",
  pdf: "pdf",
  archive: "zip tar gz tgz bz2 xz zst 7z rar",
};

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(ENDINGS).flatMap(([kind, endings]) =>
    endings.split(" ").map((ending) => [ending, kind as Kind] as const),
  ),
);

/** Whatever is not known by its name may be text: that is seen by its bytes. */
export function kindOf(name: string): Kind {
  return KINDS.get(endingOf(name)) ?? "unknown";
}

/** Small letters after the last dot; empty: there are none. */
export function endingOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** Media types that images get, by their endings: never what a machine says, for that could be a page. */
export const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["avif", "image/avif"],
  ["bmp", "image/bmp"],
  ["ico", "image/x-icon"],
  ["svg", "image/svg+xml"],
]);
