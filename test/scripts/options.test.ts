import { join } from "node:path";
import { expect, test } from "vitest";
import { readOptions } from "../../scripts/start/options.ts";
import { ROOT } from "../../scripts/tree.ts";

test("options come before the environment, and that before the defaults", () => {
  expect(readOptions([], {})).toEqual({ port: 8787, dataDir: join(ROOT, ".matrx"), hosts: [] });
  const env = { PORT: "9000", MATRX_DATA: "/srv/matrx", MATRX_HOSTS: "relay.example, 10.0.0.2:80" };
  expect(readOptions([], env)).toEqual({
    port: 9000,
    dataDir: "/srv/matrx",
    hosts: ["relay.example", "10.0.0.2:80"],
  });
  const both = readOptions(["--port", "0", "--data", "/tmp/x"], { PORT: "9000", MATRX_DATA: "/srv/matrx" });
  expect(both).toMatchObject({ port: 0, dataDir: "/tmp/x" });
});

test("a relative folder is meant from where the person stands", () => {
  expect(readOptions(["--data", "here"], { INIT_CWD: "/home/ann" }).dataDir).toBe("/home/ann/here");
});

test.each([["65536"], ["-1"], ["80a"], [""]])("port %j is refused with the usage", (port) => {
  expect(() => readOptions([`--port=${port}`], {})).toThrow(/is not a port.*\nUsage: npm start/);
});

test("an unknown option is refused with the usage", () => {
  expect(() => readOptions(["--prot", "1"], {})).toThrow(/--prot[\s\S]*Usage: npm start/);
});
