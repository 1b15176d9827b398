/** The media type of a file by its name: a guess for browsers, which nothing else depends on. */

const TYPES: Readonly<Record<string, string>> = {
  "7z": "application/x-7z-compressed",
  avif: "image/avif",
  bmp: "image/bmp",
  bz2: "application/x-bzip2",
  css: "text/css; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  epub: "application/epub+zip",
  flac: "audio/flac",
  gif: "image/gif",
  gz: "application/gzip",
  heic: "image/heic",
  html: "text/html; charset=utf-8",
  ico: "image/vnd.microsoft.icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  log: "text/plain; charset=utf-8",
  m4a: "audio/mp4",
  md: "text/markdown; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  mkv: "video/x-matroska",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  odt: "application/vnd.oasis.opendocument.text",
  ogg: "audio/ogg",
  opus: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  rar: "application/vnd.rar",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tgz: "application/gzip",
  tiff: "image/tiff",
  ts: "text/plain; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  wasm: "application/wasm",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xml: "application/xml",
  xz: "application/x-xz",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
  zst: "application/zstd",
};

const UNKNOWN = "application/octet-stream";

export function mediaTypeOf(name: string): string {
  const extension = /\.([0-9a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(TYPES, extension) ? (TYPES[extension] ?? UNKNOWN) : UNKNOWN;
}

/** Whether deflating a file of this name is worth the time: pictures, sound, video and archives are compressed already. */
export function isWorthDeflating(name: string): boolean {
  const type = mediaTypeOf(name);
  if (type === TYPES.svg || type === TYPES.wav || type === TYPES.bmp || type === TYPES.tar) return true;
  return !/^(?:image|audio|video)\/|zip|7z|rar|zst|x-xz|openxml|opendocument/.test(type);
}
