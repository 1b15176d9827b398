/**
 * Wrong answers that other tool sets were seen to give, each named by what goes wrong there and under the number that the
 * comparison gives it. Ours must not give them.
 */
import { linkSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Workbench } from "./workbench.ts";

describe("reading", () => {
  it("4: an offset of 300000 in 600000 uneven lines does not show line 82009", async () => {
    const bench = await Workbench.open();
    const line = (number: number) => `${number} ${"x".repeat(number < 100_000 ? 200 : number % 7)}`;
    const all = Array.from({ length: 600_000 }, (_, index) => line(index + 1));
    await bench.put("uneven.log", `${all.join("\n")}\n`);
    const { output, metadata } = await bench.call("Read", {
      file_path: "uneven.log",
      offset: 300_000,
      limit: 2,
    });
    expect(output).toContain(`300000\t${line(300_000)}\n300001\t${line(300_001)}`);
    expect(metadata).toMatchObject({ start_line: 300_000, end_line: 300_001, next_offset: 300_002 });
  });

  it("10: the last 2 lines of a file that ends its last line are two lines, not one", async () => {
    const bench = await Workbench.open();
    await bench.put("three", "1\n2\n3\n");
    const { output } = await bench.call("Read", { file_path: "three", offset: -2 });
    expect(output).toBe("     2\t2\n     3\t3");
  });
});

describe("writing", () => {
  it("11: a write does not part hard links", async () => {
    const bench = await Workbench.open();
    const file = await bench.put("one", "old");
    linkSync(file, bench.at("two"));
    await bench.call("Write", { file_path: "one", content: "new" });
    expect(readFileSync(bench.at("two"), "utf8")).toBe("new");
    expect(statSync(file).nlink).toBe(2);
  });
});
