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

/** What a device that does no work answers; without id where the call came by REST. */
export function answerFrame(id: string | undefined): string {
  return JSON.stringify({ id, type: "success", output, metadata: {} });
}
