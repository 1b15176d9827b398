/** Characters that look alike but differ: straight and typographic quotes, kinds of dashes and spaces, composed accents. */

const QUOTES = /[\u2018\u2019\u201a\u201b\u2032]/g;
const DOUBLE_QUOTES = /[\u201c\u201d\u201e\u201f\u2033]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;
/** macOS puts a narrow one (U+202F) into the names of screenshots. */
const SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

/** One spelling for all that look alike, for comparing only. */
export function plainSpelling(text: string): string {
  return text
    .normalize("NFC")
    .replace(QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(DASHES, "-")
    .replace(SPACES, " ");
}
