/** How loaded this machine is: once, and through a stream. */
import { availableParallelism, totalmem } from "node:os";
import { describe, expect, it } from "vitest";
import { sampleSchema } from "../../../agent/metrics/sample.ts";
import { MemoryStream, RESET } from "../transfers/memory-stream.ts";
import { failure, Workbench } from "./workbench.ts";

const strict = sampleSchema.strict();

describe("SystemMetrics", () => {
  it("tells this machine's figures, in the shape that it announces", async () => {
    const bench = await Workbench.open();
    const { output, metadata } = await bench.call("SystemMetrics", {});
    const sample = strict.parse(metadata);
    expect(sample.cpu.cores.length).toBeGreaterThanOrEqual(availableParallelism());
    expect(sample.cpu.load).toHaveLength(3);
    expect(sample.memory.total_bytes).toBe(totalmem());
    expect(sample.memory.used_bytes + sample.memory.available_bytes).toBe(totalmem());
    expect(sample.network.find(({ loopback }) => loopback)).toMatchObject({ name: "lo" });
    for (const { total_bytes, used_bytes } of sample.disks)
      expect(used_bytes).toBeLessThanOrEqual(total_bytes);
    expect(output).toMatch(/^cpu: [\d.]+ % of \d+ cores/);
    expect(output).toContain("network lo: ");
  });

  it("takes little of the processor for a sample", async () => {
    const bench = await Workbench.open();
    await bench.call("SystemMetrics", {});
    const before = process.cpuUsage();
    const samples = 5;
    for (let sample = 0; sample < samples; sample++) await bench.call("SystemMetrics", {});
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000 / samples).toBeLessThan(150);
  });

  it("sends a line of JSON for each sample, and ends when the caller leaves", async () => {
    const bench = await Workbench.open();
    const { stream, metadata } = await bench.call(
      "SystemMetrics",
      { interval_ms: 1000 },
      { opensStream: true },
    );
    const lines: string[] = [];
    const end = new MemoryStream({
      receive(bytes) {
        lines.push(Buffer.from(bytes).toString());
        if (lines.length === 2) end.reset();
      },
    });
    await expect(stream?.(end)).rejects.toBe(RESET);
    const samples = lines.map((line) => strict.parse(JSON.parse(line)));
    expect(samples).toHaveLength(2);
    // A single sample may come early: one before it that is late shortens the time to it.
    const [from = 0, , to = 0] = [strict.parse(metadata), ...samples].map(({ at }) => Date.parse(at));
    expect(to - from).toBeGreaterThanOrEqual(2 * 990);
    for (const line of lines) expect(line.match(/\n/g)).toHaveLength(1);
  });

  it("has no sample wait for a caller that stalls: it gets the newest", async () => {
    const bench = await Workbench.open();
    const { stream } = await bench.call("SystemMetrics", { interval_ms: 1000 }, { opensStream: true });
    const at: number[] = [];
    const end = new MemoryStream({
      async receive(bytes) {
        at.push(Date.parse(strict.parse(JSON.parse(Buffer.from(bytes).toString())).at));
        if (at.length === 1) await new Promise((resolve) => setTimeout(resolve, 2500));
        if (at.length === 3) end.reset();
      },
    });
    await expect(stream?.(end)).rejects.toBe(RESET);
    expect(end.waiting).toBe(1);
    const [first = 0, second = 0, third = 0] = at;
    // One was skipped, and those after it come when they are due.
    expect(second - first).toBeGreaterThan(1500);
    expect(third - second).toBeLessThan(1500);
  });

  it.each([{ interval_ms: 999 }, { interval_ms: 60_001 }, { interval_ms: 1500.5 }, { every: 1000 }])(
    "refuses %j",
    async (input) => {
      const bench = await Workbench.open();
      const error = await failure(bench.call("SystemMetrics", input, { opensStream: true }));
      expect(error.code).toBe("INVALID_PARAMETERS");
    },
  );

  it("refuses an interval without a stream, and says what to do", async () => {
    const bench = await Workbench.open();
    const error = await failure(bench.call("SystemMetrics", { interval_ms: 1000 }));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { reason: "needs_stream" } });
    expect(error.hint).toContain("opens");
  });
});
