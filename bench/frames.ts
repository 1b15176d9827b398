/** The call and the answer that every variant carries: 196 bytes each, ids of one length. */

const FRAME_BYTES = 196;

/** The tool that a variant asks for, with an input of its own where a real tool runs. */
export interface Work {
  tool: string;
  input: Record<string, string>;
}

/** Caller's ids are as long as one another, so that every frame is. */
export function callIdOf(count: number): string {
  return `c${count.toString().padStart(9, "0")}`;
}

/** A call for a device that does no work, padded to the common length. */
export function emptyWork(tool: string): Work {
  const bare = JSON.stringify({ id: callIdOf(0), tool, input: { file_path: "" } });
  return { tool, input: { file_path: "/".padEnd(FRAME_BYTES - bare.length, "p") } };
}

export function callFrame(id: string, { tool, input }: Work): string {
  return JSON.stringify({ id, tool, input });
}

const bareAnswer = JSON.stringify({ id: callIdOf(0), type: "success", output: "", metadata: {} });
const output = "o".repeat(FRAME_BYTES - bareAnswer.length);

const LONG_ANSWER = 2 ** 20;

/** A call whose answer is a text of 1 MiB. */
export function longWork(): Work {
  return { tool: "Read", input: { file_path: "/long", answer_bytes: String(LONG_ANSWER) } };
}

/** What a device that does no work answers; without id where the call came by REST. */
export function answerFrame(id: string | undefined, input: Record<string, unknown> = {}): string {
  if (input.answer_bytes === undefined) return JSON.stringify({ id, type: "success", output, metadata: {} });
  return `${JSON.stringify({ id, type: "success" }).slice(0, -1)},"output":${longText(Number(input.answer_bytes))},"metadata":{}}`;
}

const texts = new Map<number, string>();

/** Lines as of a program's source, as a JSON string; made once. */
function longText(bytes: number): string {
  const line = '\tif (found === undefined) throw new Error("there is none", { cause: error }); // line\n';
  const text =
    texts.get(bytes) ?? JSON.stringify(line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes));
  texts.set(bytes, text);
  return text;
}
