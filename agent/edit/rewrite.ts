/** A whole new text for a file: written as the file is, with its encoding, byte order mark and line ends. */
import { encode, isUtf16, type TextEncoding } from "../text/encodings.ts";
import { type UnitText, unitsFor } from "./code-units.ts";
import { notInEncoding, type Subject } from "./errors.ts";
import { endsOf, fittingEnds } from "./line-ends.ts";

const MARK = "\ufeff";

/**
 * A new text in place of the old one, if there was one. `declared` is the encoding that the caller gave, instead of the
 * old. A text with CRLF line ends of its own keeps those. Throws MatrxError if the encoding lacks a character.
 */
export function rewritten(
  old: UnitText | undefined,
  content: string,
  declared: TextEncoding | undefined,
  subject: Subject,
): UnitText {
  const isMarked = content.startsWith(MARK);
  const text = isMarked ? content.slice(MARK.length) : content;
  const { encoding, mark } = formFor(old, declared, isMarked);
  const units = unitsFor(text, encoding);
  if (units === undefined) throw notInEncoding(encoding, "content", text, subject, IN_UTF8);
  return { encoding, mark, units: withEndsOf(old, units), rest: NONE };
}

const IN_UTF8 = "to write the file in UTF-8 from now on, give encoding=utf-8";
const NONE = Buffer.alloc(0);

type Form = Pick<UnitText, "encoding" | "mark">;

function formFor(old: UnitText | undefined, declared: TextEncoding | undefined, isMarked: boolean): Form {
  const form = declared === undefined ? (old ?? { encoding: "utf-8", mark: NONE }) : declaredForm(declared);
  if (!isMarked || form.encoding !== "utf-8") return form;
  return { encoding: "utf-8-bom", mark: Buffer.from(MARK) };
}

/** UTF-16 gets its mark, without which it would be taken for bytes. */
function declaredForm(encoding: TextEncoding): Form {
  return { encoding, mark: (isUtf16(encoding) ? encode(MARK, encoding) : undefined) ?? NONE };
}

function withEndsOf(old: UnitText | undefined, units: string): string {
  const given = endsOf(units);
  if (!old || given === "crlf" || given === "mixed") return units;
  return fittingEnds(old.units)(0, old.units.length, units);
}
