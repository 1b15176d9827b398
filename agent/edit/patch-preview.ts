/** What a patch would do, for the person who decides on it. */
import type { Preview } from "../core/preview.ts";
import { counted } from "../text/counted.ts";
import { type FileDiff, fileDiff, textOfFile } from "./file-diff.ts";
import type { Prepared } from "./prepared-patch.ts";

const ANY_EXECUTE_BIT = 0o111;

export function patchPreview(prepared: readonly Prepared[]): Preview {
  const diffs = prepared.map(diffOf);
  const text = prepared.flatMap((change, index) => [...headersOf(change), diffs[index]?.text ?? ""]);
  const [only] = prepared;
  const summary =
    only && prepared.length === 1
      ? actionOf(only)
      : `Patch ${counted(prepared.length, "file")}: ${countsOf(prepared)}`;
  return { summary, diff: text.join("\n"), diffCut: diffs.some(({ isCut }) => isCut) };
}

function diffOf(change: Prepared): FileDiff {
  if (change.kind === "add")
    return fileDiff({ from: undefined, to: change.place.shown, after: change.bytes.toString() });
  const { file, before } = change;
  const from = file.place.shown;
  const text = textOfFile(before.bytes);
  if (change.kind === "delete") return fileDiff({ from, to: undefined, before: text });
  const to = (change.to ?? file.place).shown;
  const isSame = change.bytes.equals(before.bytes);
  if (isSame) return { text: "", isCut: false };
  return fileDiff({ from, to, before: text, after: textOfFile(change.bytes) });
}

/** What a diff's own lines do not tell, as Git says it. */
function headersOf(change: Prepared): string[] {
  if (change.kind === "add")
    return (change.mode & ANY_EXECUTE_BIT) === 0 ? [] : [`new file mode 100${change.mode.toString(8)}`];
  if (change.kind !== "update") return [];
  const modes = change.isProgram ? ["100644", "100755"] : ["100755", "100644"];
  const right = change.isProgram === undefined ? [] : [`old mode ${modes[0]}`, `new mode ${modes[1]}`];
  if (!change.to) return right;
  return [...right, `rename from ${change.file.place.shown}`, `rename to ${change.to.shown}`];
}

function actionOf(change: Prepared): string {
  if (change.kind === "add") return `Create ${change.place.shown}`;
  const { shown } = change.file.place;
  if (change.kind === "delete") return `Delete ${shown} for good`;
  return change.to ? `Move ${shown} to ${change.to.shown}` : `Edit ${shown}`;
}

function countsOf(prepared: readonly Prepared[]): string {
  const count = (kind: Prepared["kind"]) => prepared.filter((change) => change.kind === kind).length;
  const named = { created: count("add"), changed: count("update"), deleted: count("delete") };
  return Object.entries(named)
    .flatMap(([what, number]) => (number > 0 ? `${number} ${what}` : []))
    .join(", ");
}
