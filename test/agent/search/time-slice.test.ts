import { afterEach, describe, expect, it, vi } from "vitest";
import { TimeSlice } from "../../../agent/platform/time-slice.ts";

describe("how a search asks the file system", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("is without threads, until an answer takes long, and again when one does not", async () => {
    let time = 0;
    vi.spyOn(performance, "now").mockImplementation(() => time);
    const pace = new TimeSlice();
    const asked = (ms: number) =>
      pace.ask(
        () => {
          time += ms;
          return "now";
        },
        async () => {
          time += ms;
          return "by threads";
        },
      );
    const answers: string[] = [];
    for (const ms of [1, 10, 11, 50, 2, 3]) answers.push(await asked(ms));
    expect(answers).toEqual(["now", "now", "now", "by threads", "by threads", "now"]);
  });

  it("leaves others their turn after some milliseconds", async () => {
    let time = 100;
    vi.spyOn(performance, "now").mockImplementation(() => time);
    const pace = new TimeSlice();
    expect(pace.isUp).toBe(false);
    time += 6;
    expect(pace.isUp).toBe(true);
    let hadTurn = false;
    setImmediate(() => {
      hadTurn = true;
    });
    await pace.rest();
    expect(hadTurn).toBe(true);
    expect(pace.isUp).toBe(false);
  });
});
