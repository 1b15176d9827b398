/** Names as git and GNU diff write odd ones: in quotes, with the escapes of C. */

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** What is not quoted stays as it is. */
export function unquotedName(name: string): string {
  const quoted = /^"((?:\\.|[^"\\])*)"$/.exec(name);
  if (!quoted) return name;
  const parts = (quoted[1] ?? "").matchAll(/\\([0-7]{3}|.)|[^\\]+/gs);
  return Buffer.concat(
    [...parts].map(([all, sign]) => (sign === undefined ? Buffer.from(all) : byteOf(sign))),
  ).toString();
}

/** `sign`: what follows the backslash. */
function byteOf(sign: string): Buffer {
  if (/^[0-7]{3}$/.test(sign)) return Buffer.from([Number.parseInt(sign, 8) & 0xff]);
  const code = ESCAPES[sign];
  return code === undefined ? Buffer.from(sign) : Buffer.from([code]);
}
