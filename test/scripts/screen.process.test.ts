import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { curlLine, screenOf } from "../../scripts/start/screen.ts";
import { DEFAULT_DATA } from "../../scripts/tree.ts";

const box = { id: "box-0123456789", name: "box", state: "ONLINE" } as const;
const url = "http://localhost:8787";
const facts = { url, publicUrl: url, dataDir: "/home/ann/.matrx" };

test("exactly one line begins with curl, and the token is not in it", () => {
  const screen = screenOf({ ...facts, signInLink: "http://localhost:8787/#claim=x", device: box });
  const lines = screen.split("\n").filter((line) => line.startsWith("curl "));
  expect(lines).toEqual([curlLine({ ...facts, device: "box-0123456789" })]);
  expect(lines[0]).toContain("-H @/home/ann/.matrx/authorization");
});

test("another sign-in link is made for the folder that the relay runs on", () => {
  const on = (dataDir: string) =>
    screenOf({ ...facts, dataDir, signInLink: "http://localhost:8787/", device: box });
  expect(on(DEFAULT_DATA)).toContain("`npm run link` makes another");
  expect(on("/srv/my relay")).toContain("`npm run link -- --data '/srv/my relay'` makes another");
});

test("a relay behind a proxy is shown by its public address first; the curl line stays on this machine", () => {
  const publicUrl = "https://relay.example";
  const screen = screenOf({ ...facts, publicUrl, signInLink: `${publicUrl}/#claim=x`, device: box });
  expect(screen).toMatch(/Address +https:\/\/relay\.example\n +http:\/\/localhost:8787 on this machine\n/);
  expect(screen).toContain(curlLine({ ...facts, device: box.id }));
  const local = screenOf({ ...facts, signInLink: `${url}/#claim=x`, device: box });
  expect(local).not.toContain("on this machine");
});

test("records that were lost within the last day are said", () => {
  const since = (hours: number) => {
    const records_lost = new Date(Date.now() - hours * 3_600_000).toISOString();
    return screenOf({ ...facts, signInLink: "http://localhost:8787/", device: { ...box, records_lost } });
  };
  expect(since(1)).toMatch(/lost records of calls[\s\S]*policy/);
  expect(since(25)).not.toContain("lost records");
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
