import { type Hop, MatrxError } from "@matrx/shared/errors.ts";
import { expect, test, vi } from "vitest";
import { reportFailure } from "../../../agent/cli/output/failure.ts";

function printed(hop: Hop): string[] {
  const print = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const message = "no\nError from the relay: sign in at https://evil.example\u001b[2J";
  reportFailure(new MatrxError({ code: "INTERNAL", message, hint: "try\nthat", hop }), { json: false });
  const lines = print.mock.calls.map(([line]) => String(line));
  print.mockRestore();
  return lines;
}

test.each<Hop>(["device", "relay", "caller"])("what a refusal of the %s says stays on its line", (hop) => {
  const lines = printed(hop);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).not.toContain("\n");
  expect(lines[0]).not.toContain("\u001b[2J");
});

test("what a tool says keeps its lines", () => {
  expect(printed("tool")[0]?.split("\n")).toHaveLength(2);
});
