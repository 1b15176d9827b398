/** Characters that look alike and are not the same: typed quotes and typographic ones, kinds of spaces, composed accents. */

const QUOTES = /[\u2018\u2019\u201a\u201b\u2032]/g;
const DOUBLE_QUOTES = /[\u201c\u201d\u201e\u201f\u2033]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;
/** The narrow one stands in the names of screenshots that macOS makes. */
const SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

/** One spelling of what looks alike, for comparing only. */
export function plainSpelling(text: string): string {
  return text
    .normalize("NFC")
    .replace(QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(DASHES, "-")
    .replace(SPACES, " ");
}
