import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { firstChars, lastChars } from "../../../agent/jobs/excerpt.ts";
import { commandEnvironment, loginPath } from "../../../agent/platform/environment.ts";

describe("the environment of a command", () => {
  it("is the agent's own without its secrets and its service's socket, and names the job", () => {
    const env = {
      HOME: "/h",
      MATRX_TOKEN: "t",
      RELAY_KEYS: "k",
      CLAIM_SECRET: "c",
      NOTIFY_SOCKET: "n",
      PATH: "/bin",
    };
    expect(commandEnvironment(env, "job_1", undefined)).toEqual({
      HOME: "/h",
      PATH: "/bin",
      MATRX_JOB: "job_1",
    });
    expect(commandEnvironment(env, "job_1", "/opt/bin").PATH).toBe("/opt/bin");
  });

  it("is what the person had before npx", () => {
    const npx = "/home/ann/.npm/_npx/1/node_modules/.bin";
    const env = {
      npm_command: "exec",
      npm_config_yes: "true",
      INIT_CWD: "/h",
      PATH: [npx, "/usr/bin"].join(path.delimiter),
    };
    expect(commandEnvironment(env, "job_1", undefined)).toEqual({ PATH: "/usr/bin", MATRX_JOB: "job_1" });
    const own = { npm_config_registry: "https://npm.example", PATH: "/x/node_modules/.bin:/usr/bin" };
    expect(commandEnvironment(own, "job_1", undefined)).toEqual({ ...own, MATRX_JOB: "job_1" });
  });

  it("takes PATH from the login shell when a service manager began the agent", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "matrx-shell-"));
    const shell = path.join(folder, "shell");
    await writeFile(
      shell,
      '#!/bin/sh\necho welcome\nPATH=/from/login$RELAY_KEYS:/usr/bin:/bin exec /bin/sh "$2" "$3"\n',
    );
    await chmod(shell, 0o755);
    const env = { SHELL: shell, PATH: "/usr/bin:/bin" };
    // The profile sees no secrets of ours.
    expect(await loginPath({ ...env, INVOCATION_ID: "x", RELAY_KEYS: "/seen" })).toBe(
      "/from/login:/usr/bin:/bin",
    );
    expect(await loginPath(env)).toBeUndefined();
    expect(await loginPath({ ...env, SHELL: "/nowhere", INVOCATION_ID: "x" })).toBeUndefined();
    await rm(folder, { recursive: true });
  });
});

describe("a part of a text", () => {
  const bytes = Buffer.from("aé€😀b");

  it.each([
    [0, ""],
    [1, "a"],
    [3, "aé€"],
    [4, "aé€"],
    [5, "aé€😀"],
    [9, "aé€😀b"],
  ])("of %i units from its beginning breaks no character", (chars, wanted) => {
    expect(firstChars(bytes, chars).toString()).toBe(wanted);
  });

  it.each([
    [0, ""],
    [2, "b"],
    [3, "😀b"],
    [4, "€😀b"],
    [9, "aé€😀b"],
  ])("of %i units from its end breaks no character", (chars, wanted) => {
    expect(lastChars(bytes, chars).toString()).toBe(wanted);
  });
});
