/** Shows a call's answer, and takes over its exit code. */
import { writeFileSync } from "node:fs";
import type { Answer } from "@matrx/shared/caller-frames.ts";
import { MatrxError } from "@matrx/shared/errors.ts";
import { wrongUse } from "./failure.ts";
import type { MadeCall } from "./made-call.ts";
import { printJson, styled, toolOutput } from "./print.ts";

interface EndOptions {
  json?: boolean;
  save?: string;
  session?: string;
}

/** Prints what was not shown yet. Throws the answer's error as MatrxError. */
export function endCall({ answer, shown, session }: MadeCall, options: EndOptions): void {
  if (options.session === "new" && session)
    console.error(styled("dim", `session ${session}`, process.stderr));
  if (options.json) printJson(answer);
  const { code, hint, hop, metadata, output } = answer;
  if (answer.type === "error") {
    const error = { code: code ?? "TOOL_EXECUTION_FAILED", message: output, hint, hop: hop ?? "tool" };
    throw new MatrxError({ ...error, details: metadata });
  }
  process.exitCode = exitOf(answer);
  if (options.save !== undefined) return save(answer, options.save);
  if (options.json || shown) return;
  const text = toolOutput(output, process.stdout);
  process.stdout.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  if (answer.image) {
    console.error(
      `The answer is an image (${answer.image.media_type}): write it to a file with --save FILE.`,
    );
  }
}

/** The exit code of a command that ran; a number outside of 0 to 255 is a plain failure. */
function exitOf({ metadata }: Answer): number {
  const code = metadata?.exit_code;
  if (typeof code !== "number") return 0;
  return code >= 0 && code <= 255 ? code : 1;
}

function save({ image, output }: Answer, path: string): void {
  try {
    writeFileSync(path, image ? Buffer.from(image.base64_data, "base64") : output);
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw wrongUse(
      `The call ended well, but ${path} cannot be written${why}`,
      "Name another file with --save",
    );
  }
  console.error(`Saved to ${path}.`);
}
