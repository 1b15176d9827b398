import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { curlLine, screenOf } from "../../scripts/start/screen.ts";
import { DEFAULT_DATA } from "../../scripts/tree.ts";

const url = "http://localhost:8787";
const facts = { url, publicUrl: url, dataDir: "/home/ann/.matrx" };

test("exactly one line begins with curl, and the token is not in it", () => {
  const device = { id: "box-0123456789", name: "box", state: "ONLINE" };
  const screen = screenOf({ ...facts, signInLink: "http://localhost:8787/#claim=x", device });
  const lines = screen.split("\n").filter((line) => line.startsWith("curl "));
  expect(lines).toEqual([curlLine({ ...facts, device: "box-0123456789" })]);
  expect(lines[0]).toContain("-H @/home/ann/.matrx/authorization");
});

test("another sign-in link is made for the folder that the relay runs on", () => {
  const device = { id: "box-0123456789", name: "box", state: "ONLINE" };
  const on = (dataDir: string) =>
    screenOf({ ...facts, dataDir, signInLink: "http://localhost:8787/", device });
  expect(on(DEFAULT_DATA)).toContain("`npm run link` makes another");
  expect(on("/srv/my relay")).toContain("`npm run link -- --data '/srv/my relay'` makes another");
});

test("a relay behind a proxy is shown by its public address first; the curl line stays on this machine", () => {
  const device = { id: "box-0123456789", name: "box", state: "ONLINE" };
  const publicUrl = "https://relay.example";
  const screen = screenOf({ ...facts, publicUrl, signInLink: `${publicUrl}/#claim=x`, device });
  expect(screen).toMatch(/Address +https:\/\/relay\.example\n +http:\/\/localhost:8787 on this machine\n/);
  expect(screen).toContain(curlLine({ ...facts, device: device.id }));
  const local = screenOf({ ...facts, signInLink: `${url}/#claim=x`, device });
  expect(local).not.toContain("on this machine");
});

test.each(["/home/ann/my relay", "/tmp/it's $HOME", '/tmp/"quoted" `x`'])(
  "a shell reads %s as one word",
  (dataDir) => {
    const line = curlLine({ ...facts, dataDir, device: "box-0123456789" });
    const script = `curl() { printf '%s\\n' "$@"; }\n${line}`;
    const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
    expect(words[2]).toBe(`@${dataDir}/authorization`);
    expect(words.at(-1)).toBe("http://localhost:8787/v1/devices/box-0123456789/tools/SystemInfo");
  },
);
