/**
 * Wrong answers that other tool sets were seen to give, each named by what goes wrong there and under the number that the
 * comparison gives it. Ours must not give them.
 */
import { linkSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failure, processesMarked, Workbench } from "./workbench.ts";

async function edited(content: string | Buffer, input: Record<string, unknown>): Promise<Buffer> {
  const bench = await Workbench.open();
  await bench.put("file", content);
  await bench.call("Edit", { file_path: "file", ...input });
  return readFileSync(bench.at("file"));
}

describe("editing", () => {
  it("1: bytes of Latin-1 elsewhere in the file are not rewritten as U+FFFD", async () => {
    const before = Buffer.from("caf\xe9 cr\xe8me\nprice: 3\n", "latin1");
    const after = await edited(before, { old_string: "price: 3", new_string: "price: 4" });
    expect(after).toEqual(Buffer.from("caf\xe9 cr\xe8me\nprice: 4\n", "latin1"));
  });

  it("2: a text over lines with CRLF and LF is found and replaced, not refused at 100% similarity", async () => {
    const after = await edited("one\r\ntwo\nthree\r\n", {
      old_string: "one\ntwo\nthree",
      new_string: "one\n2\nthree",
    });
    expect(String(after)).toBe("one\r\n2\nthree\r\n");
  });

  it("3: overlapping places do not make 'aa' stand three times in 'aaaa'", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "aaaa");
    const change = { file_path: "file", old_string: "aa", new_string: "b" };
    for (const input of [
      { expected_replacements: 3 },
      { expected_replacements: 3, replace_all: true },
      { expected_replacements: 2 },
      {},
    ]) {
      const error = await failure(bench.call("Edit", { ...change, ...input }));
      expect(["not_unique", "wrong_count"]).toContain(error.details?.reason);
      expect(readFileSync(bench.at("file"), "utf8")).toBe("aaaa");
    }
    const { metadata } = await bench.call("Edit", { ...change, replace_all: true, expected_replacements: 2 });
    expect(metadata?.replacements).toBe(2);
    expect(readFileSync(bench.at("file"), "utf8")).toBe("bb");
  });

  it("8: a file with CRLF is not turned to LF by an edit of one line", async () => {
    const after = await edited("a\r\nb\r\nc\r\n", { old_string: "b", new_string: "x\ny" });
    expect(String(after)).toBe("a\r\nx\r\ny\r\nc\r\n");
  });

  it("9: the first of three matches is not replaced in silence", async () => {
    const bench = await Workbench.open();
    await bench.put("file", "x = 1\ny = 1\nx = 1\nx = 1\n");
    const error = await failure(
      bench.call("Edit", { file_path: "file", old_string: "x = 1", new_string: "x = 2" }),
    );
    expect(error.message).toContain("occurs 3 times");
    expect(error.details?.lines).toEqual([1, 3, 4]);
    expect(readFileSync(bench.at("file"), "utf8")).toBe("x = 1\ny = 1\nx = 1\nx = 1\n");
  });

  it("12: Latin-1 is not corrupted by an edit of the very word that is not ASCII", async () => {
    const before = Buffer.from("caf\xe9\ncr\xe8me\n", "latin1");
    const after = await edited(before, { old_string: "crème", new_string: "brûlée" });
    expect(after).toEqual(Buffer.from("caf\xe9\nbr\xfbl\xe9e\n", "latin1"));
  });
});

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

  it("10: nor one line of a file that is too long to count its lines", async () => {
    const bench = await Workbench.open();
    await bench.put("long", `${`${"x".repeat(1023)}\n`.repeat(17 * 1024)}2\n3\n`);
    const { output } = await bench.call("Read", { file_path: "long", offset: -2 });
    expect(output).toMatch(/^ *-2\t2\n *-1\t3\b/);
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

describe("commands", () => {
  const begin = async (bench: Workbench, command: string) =>
    (await bench.call("Bash", { command, run_in_background: true })).metadata?.bash_id as string;

  it("5: a character of several bytes that comes in pieces is one character, read in any way", async () => {
    const bench = await Workbench.open();
    const command = 'for b in e2 82 ac f0 9f 98 80; do printf "\\x$b"; sleep 0.15; done';
    const live: string[] = [];
    const output = (_channel: string, _offset: number, text: string) => void live.push(text);
    expect((await bench.call("Bash", { command }, { output })).output).toBe("€😀");
    expect(live.join("")).toBe("€😀");
    const bash_id = await begin(bench, command);
    let read = "";
    for (let status = "running"; status === "running"; ) {
      const { output, metadata } = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
      read += output.replace(/\n?\[[^\n]*\]$/, "");
      status = String(metadata?.status);
    }
    expect(read).toBe("€😀");
  });

  it("6: a line 'Error: ...', or one that looks like a prompt, is not taken for the end", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(
      bench,
      "echo 'Error: it failed'; printf '$ '; until [ -e go ]; do sleep 0.02; done; exit 5",
    );
    const { output, metadata } = await bench.call("BashOutput", { bash_id, wait_pattern: "\\$ $" });
    expect(output).toBe(`Error: it failed\n$ \n[${bash_id} is running]`);
    expect(metadata).toMatchObject({ status: "running", exit_code: null });
    await bench.put("go", "");
    const ended = await bench.call("BashOutput", { bash_id, wait_for: "exit" });
    expect(ended.metadata).toMatchObject({ status: "completed", exit_code: 5 });
  });

  it("7: nothing is left running after a stop", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(
      bench,
      "sleep 100 & (sleep 100 & setsid sleep 100 &); nohup sleep 100 & trap '' TERM; echo up; while :; do sleep 1; done",
    );
    await bench.call("BashOutput", { bash_id, wait_pattern: "up" });
    expect(processesMarked(`MATRX_JOB=${bash_id}`).length).toBeGreaterThanOrEqual(5);
    await bench.call("TaskStop", { task_id: bash_id });
    expect(processesMarked(`MATRX_JOB=${bash_id}`)).toEqual([]);
  });

  it("7: output of a command that ended is read on from where one was, by an id that is no process number", async () => {
    const bench = await Workbench.open();
    const bash_id = await begin(bench, "echo first; until [ -e go ]; do sleep 0.02; done; echo second");
    const one = await bench.call("BashOutput", { bash_id, wait_ms: 5000 });
    expect(one.output).toContain("first\n");
    await bench.put("go", "");
    const two = await bench.call("BashOutput", { bash_id, wait_for: "exit" });
    expect(two.output).toBe(`second\n[${bash_id} completed with exit code 0]`);
    expect((await bench.call("BashOutput", { bash_id })).output).toBe(
      `[${bash_id} completed with exit code 0]`,
    );
    expect((await bench.call("BashOutput", { bash_id, offset: 0 })).output).toContain("first\nsecond\n");
    expect(bash_id).not.toMatch(/^\d+$/);
    await expect(bench.call("BashOutput", { bash_id: `${process.pid}` })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("the limits of a caller", () => {
  it("13: a link to something outside that is not there yet lets nothing through", async () => {
    const bench = await Workbench.open();
    await bench.put("open/file", "inside");
    await bench.put("shut/file", "outside");
    symlinkSync("../shut/new", bench.at("open/dangling"));
    symlinkSync(bench.at("shut/far/away"), bench.at("open/far"));
    symlinkSync("dangling", bench.at("open/twice"));
    const policy = { allowed_paths: [bench.at("open")] };
    for (const name of ["dangling", "far", "twice"].map((link) => `open/${link}`)) {
      for (const [tool, input] of [
        ["Read", { file_path: name }],
        ["Write", { file_path: name, content: "x" }],
        ["Write", { file_path: `${name}/deeper`, content: "x" }],
        ["Edit", { file_path: name, old_string: "a", new_string: "b" }],
        ["ListDirectory", { path: name }],
        ["create_directory", { path: name }],
        ["create_directory", { path: `${name}/deeper` }],
        ["Move", { source: "open/file", destination: `${name}/deeper` }],
        ["Move", { source: "open/file", destination: `${name}/` }],
        ["Delete", { path: `${name}/deeper` }],
        ["delete_directory", { path: `${name}/deeper` }],
      ] as const) {
        await expect(bench.call(tool, input, { policy })).rejects.toMatchObject({
          code: "PERMISSION_DENIED",
        });
      }
    }
    // The link itself lies inside: it may be moved, replaced and deleted, and what it points to stays untouched.
    await bench.call("Move", { source: "open/far", destination: "open/renamed" }, { policy });
    await bench.call(
      "Move",
      { source: "open/file", destination: "open/dangling", overwrite: true },
      { policy },
    );
    await bench.call("Delete", { path: "open/renamed", permanent: true }, { policy });
    expect(readdirSync(bench.at("shut"))).toEqual(["file"]);
    expect(readdirSync(bench.at("open")).sort()).toEqual(["dangling", "twice"]);
    expect(readFileSync(bench.at("open/dangling"), "utf8")).toBe("inside");
  });
});
