/** Work on several entries of a folder. */
import { afterEach, expect, test, vi } from "vitest";
import type { Entry } from "../../../web/src/features/files/entries.ts";
import { ApiError } from "../../../web/src/relay/api-error.ts";

afterEach(() => vi.unstubAllGlobals());

test("an entry that the relay refuses for its rate is tried again when it says", async () => {
  vi.stubGlobal("addEventListener", () => undefined);
  const { runBatch, useBatches } = await import("../../../web/src/features/files/batch.ts");
  const tried: string[] = [];
  const entries = ["a", "b", "c"].map((name) => ({ name }) as Entry);
  const work = async ({ name }: Entry) => {
    tried.push(name);
    if (tried.length === 2)
      throw new ApiError(422, { detail: "Too fast", code: "RATE_LIMITED", hop: "relay", retry_after_ms: 2 });
    if (name === "c") throw new ApiError(422, { detail: "Full", code: "RATE_LIMITED", hop: "tool" });
  };
  await runBatch({ device: "box", doing: "Deleting", done: "deleted", entries, atOnce: 1, work });
  expect(tried).toEqual(["a", "b", "b", "c"]);
  expect(useBatches.getState().batches).toMatchObject([{ succeeded: 2, failures: [{ name: "c" }] }]);
});
