/** Reading a command's output over bad lines, and from an agent of the release before. The relay here is a script. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { relayAt } from "../../../agent/cli/client/relay.ts";
import { JobReader } from "../../../agent/cli/output/job-output.ts";
import { textBytes } from "../../../agent/cli/output/whole-output.ts";
import { MatrxError, problemOf } from "../../../shared/errors.ts";

type Input = Record<string, unknown>;

/** Answers each request by the next function; resolves to a reader of one job, and to what was asked. */
async function reading(...answers: ((input: Input, response: ServerResponse) => void)[]) {
  const asked: Input[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const input = (await json(request)) as Input;
    asked.push(input);
    answers.shift()?.(input, response);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const client = relayAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "token");
  return { reader: new JobReader(client, "box-0123456789", "job_0123456789"), asked };
}

function page(output: string, metadata: Input) {
  const facts = { status: "completed", exit_code: 0, start_offset: 0, more: false };
  return (_input: Input, response: ServerResponse) =>
    response.end(JSON.stringify({ type: "success", output, metadata: { ...facts, ...metadata } }));
}

function refusal(error: MatrxError) {
  const problem = problemOf(error.shape());
  return (_input: Input, response: ServerResponse) =>
    response.writeHead(problem.status).end(JSON.stringify(problem));
}

const tooOld = new MatrxError({
  code: "INVALID_PARAMETERS",
  message: "Unknown parameter: encoding",
  hop: "tool",
  details: { field: "encoding" },
});

test("an agent of the release before gives text, without its notes", async () => {
  const { reader, asked } = await reading(
    refusal(tooOld),
    page("caf\u00e9\n[job_x completed with exit code 0]", { end_offset: 5, ends_mid_line: true }),
    page("[7 bytes were cut from the log here]\nend\n[job_x completed with exit code 0]", {
      ...{ start_offset: 12, end_offset: 16 },
    }),
    page("\ufffd\n[job_x completed with exit code 0]", { end_offset: 1, ends_mid_line: true }),
  );
  expect(await reader.read(0, 0)).toMatchObject({ bytes: Buffer.from("caf\u00e9"), end: 5, isExact: true });
  expect(await reader.read(5, 0)).toMatchObject({ bytes: Buffer.from("end\n"), lost: 7, isExact: true });
  expect(await reader.read(0, 0)).toMatchObject({ isExact: false });
  expect(asked.map(({ encoding }) => encoding)).toEqual(["base64", undefined, undefined, undefined]);
});

test("an outage is waited for, a refusal is not", { timeout: 20_000 }, async () => {
  const offline = new MatrxError({ code: "DEVICE_OFFLINE", message: "gone", hop: "relay" });
  const revoked = new MatrxError({ code: "UNAUTHENTICATED", message: "revoked", hop: "relay" });
  const { reader } = await reading(
    (_input, response) => void response.socket?.destroy(),
    refusal(offline),
    page(Buffer.from([255]).toString("base64"), { end_offset: 1, encoding: "base64" }),
    refusal(revoked),
  );
  expect(await reader.read(0, 0)).toMatchObject({ bytes: Buffer.from([255]), isExact: true });
  await expect(reader.read(1, 0)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test.each([
  ["out\n", 4, "out\n"],
  ["out\n[Exit code 7]", 3, "out"],
  ["out\n[Exit code 7]", 4, "out\n"],
  ["[Exit code 7]", 0, ""],
  // What looks like our note is the command's own.
  ["[Exit code 7]", 13, undefined],
  ["\ufffd", 1, undefined],
  ["[The working directory /x no longer exists; this ran in /]\nout", 3, undefined],
])("the answer %j of a command that wrote %i bytes holds %j", (output, length, held) => {
  expect(textBytes({ type: "success", output }, length)?.toString()).toBe(held);
});
