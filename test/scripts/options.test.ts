import { join } from "node:path";
import { expect, test } from "vitest";
import { readOptions } from "../../scripts/start/options.ts";
import { ROOT } from "../../scripts/tree.ts";

test("options come before the environment, and that before the defaults", () => {
  expect(readOptions([], {})).toEqual({
    port: 8787,
    dataDir: join(ROOT, ".matrx"),
    publicUrl: undefined,
    forwardDomain: undefined,
  });
  const env = {
    PORT: "9000",
    MATRX_DATA: "/srv/matrx",
    MATRX_URL: "https://Relay.example/",
    FORWARD_DOMAIN: "f.example",
  };
  expect(readOptions([], env)).toEqual({
    port: 9000,
    dataDir: "/srv/matrx",
    publicUrl: "https://relay.example",
    forwardDomain: "f.example",
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

test.each(["relay.example", "http://relay.example", "https://relay.example/matrx"])(
  "MATRX_URL=%s is refused with an example",
  (url) => {
    expect(() => readOptions([], { MATRX_URL: url })).toThrow(/such as https:\/\/relay\.example/);
  },
);

test("who names hosts as earlier releases did is told what to do", () => {
  const env = { MATRX_HOSTS: "relay.example, 10.0.0.2:80" };
  expect(() => readOptions([], env)).toThrow("MATRX_URL=https://relay.example");
  expect(readOptions([], { ...env, MATRX_URL: "https://relay.example" }).publicUrl).toBe(
    "https://relay.example",
  );
});
