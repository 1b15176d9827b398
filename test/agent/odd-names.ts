/** Names that programs stumble over. Each is a legal name of one entry on Linux. */
export const ODD_NAMES: readonly (readonly [what: string, name: string])[] = [
  ["a line break", "two\nlines"],
  ["a carriage return", "over\rwritten"],
  ["a tab", "a\tb"],
  ["an escape sequence", "\u001b[31mred\u001b[0m"],
  ["a C1 control", "next\u0085line"],
  ["both quotes", `it's "quoted"`],
  ["quotes around it", `"all"`],
  ["backslashes", "back\\slash\\n"],
  ["what looks like bytes", "caf\\xe9"],
  ["a dash before it", "-rf"],
  ["two dashes before it", "--help"],
  ["blanks around it", "  around  "],
  ["a blank alone", " "],
  ["a no-break space at its end", "end\u00a0"],
  ["dots at its end", "end..."],
  ["three dots", "..."],
  ["a tilde before it", "~root"],
  ["a tilde alone", "~"],
  ["letters from right to left", "\u05e9\u05dc\u05d5\u05dd.txt"],
  ["an override of the direction", "photo\u202egnp.exe"],
  ["an isolated direction", "\u2066a\u2069b"],
  ["a mark of direction", "a\u200fb"],
  ["a space that is not seen", "pass\u200bword"],
  ["a byte order mark", "\ufeffstart"],
  ["letters that are tags", "a\u{e0041}\u{e0042}"],
  ["another end of line", "one\u2028two"],
  ["accents in one", "caf\u00e9"],
  ["emoji with joiners", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"],
  ["shell characters", "$(touch x) `y` ; & | > < * ? [a] {b} !"],
  ["percent signs", "100%41%"],
  ["what looks like a link", "a -> b"],
  ["what looks like a note", "[The directory is empty]"],
  ["what looks like a colon with a drive", "x:y"],
  ["255 bytes", "n".repeat(255)],
  ["255 bytes of two each and one", `${"\u00e4".repeat(127)}x`],
  ["the name of a prototype", "__proto__"],
];

/** The same text to the eye, and two names. */
export const TWINS = ["caf\u00e9", "cafe\u0301"] as const;

/** Names that are no UTF-8, as bytes, and as the shell takes them. */
export const NOT_UTF8: readonly (readonly [bytes: Buffer, shell: string, shown: string])[] = [
  [Buffer.from("caf\xe9", "latin1"), "$'caf\\xe9'", "caf\\xe9"],
  [Buffer.from([0xff]), "$'\\xff'", "\\xff"],
  [Buffer.from([0x61, 0xed, 0xa0, 0x80]), "$'a\\xed\\xa0\\x80'", "a\\xed\\xa0\\x80"],
  [Buffer.from("x\n\xc3(", "latin1"), "$'x\\x0a\\xc3('", '"x\\n\\\\xc3("'],
];
