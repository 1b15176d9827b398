/** The environment of commands and terminals is that of a login of the user, however the agent was started. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loginEnvironment } from "../../../agent/platform/login-environment.ts";
import { temporaryFolder } from "../../helpers/folder.ts";
import { Workbench } from "../tools/workbench.ts";

/** As a service manager, or a container, starts a program. */
const OF_SERVICE = { PATH: "/usr/bin:/bin", SHELL: "/bin/bash" };
const OF_SHELL = { SHLVL: "1" };

/** A home whose profile is this. */
function homeWith(profile: string): string {
  const home = temporaryFolder();
  writeFileSync(join(home, ".profile"), profile);
  return home;
}

/** For each shell, with this folder on the path. */
function putProfiles(home: string, folder: string): void {
  mkdirSync(join(home, ".config/fish"), { recursive: true });
  for (const name of [".profile", ".zprofile", ".config/fish/config.fish"])
    writeFileSync(join(home, name), `export GREETING=hello\nexport PATH="${folder}:$PATH"\n`);
}

describe("an agent that a shell started", () => {
  test("gives what it has itself, without its secrets and its service's socket", async () => {
    const env = { ...OF_SHELL, HOME: "/h", PATH: "/bin", LANG: "de_DE.UTF-8" };
    const secrets = { MATRX_TOKEN: "t", RELAY_KEYS: "k", CLAIM_SECRET: "c", NOTIFY_SOCKET: "n" };
    expect(await loginEnvironment({ ...env, ...secrets })).toEqual(env);
  });

  test("gives what the person had before npx", async () => {
    const npx = "/home/ann/.npm/_npx/1/node_modules/.bin";
    const npm = { npm_command: "exec", npm_config_yes: "true", INIT_CWD: "/h", EDITOR: "vi" };
    const env = { ...OF_SHELL, LANG: "C.UTF-8", PATH: "/usr/bin" };
    expect(await loginEnvironment({ ...env, ...npm, PATH: [npx, "/usr/bin"].join(delimiter) })).toEqual(env);
    expect(await loginEnvironment({ ...env, ...npm, EDITOR: "emacs" })).toEqual({ ...env, EDITOR: "emacs" });
    const own = {
      ...env,
      EDITOR: "vi",
      npm_config_registry: "https://npm.example",
      PATH: "/x/node_modules/.bin",
    };
    expect(await loginEnvironment(own)).toEqual(own);
  });

  test.each([
    [{}, "C.UTF-8"],
    [{ LANG: "" }, "C.UTF-8"],
    [{ LC_ALL: "C" }, undefined],
    [{ LC_CTYPE: "de_DE.UTF-8", LANG: "" }, ""],
  ])("and of language %j: LANG is %s", async (own, wanted) => {
    expect((await loginEnvironment({ ...OF_SHELL, ...own })).LANG).toBe(wanted);
  });
});

describe("an agent that a service manager started", () => {
  test.each([
    ["without anything but a path", OF_SERVICE],
    ["by systemd, from a desktop's shell", { ...OF_SERVICE, ...OF_SHELL, INVOCATION_ID: "x" }],
  ])("%s, asks the login shell, whose profile sees no secrets", async (_, env) => {
    const HOME = homeWith(
      "echo welcome\nexport PATH=$HOME/bin:/usr/bin GREETING=hello$RELAY_KEYS LANG=C.UTF-8\n",
    );
    const login = await loginEnvironment({ ...env, HOME, PATH: "/opt/given:/usr/bin", RELAY_KEYS: "k" });
    expect(login).toMatchObject({ GREETING: "hello", LANG: "C.UTF-8" });
    expect(login.PATH?.split(":")).toEqual([`${HOME}/bin`, "/usr/bin", "/opt/given"]);
    for (const name of ["RELAY_KEYS", "_", "PWD", "OLDPWD"]) expect(login).not.toHaveProperty(name);
  });

  test.each([
    ["is no shell", "#!/bin/sh\necho This account is not available.\nexit 1"],
    ["never ends", "#!/bin/sh\nsleep 1000"],
    ["starts what goes on", '#!/bin/sh\nsleep 3 & exec /bin/sh "$3" "$4"'],
  ])(
    "and whose user's shell %s, gives its own within seconds",
    async (_, text) => {
      const HOME = temporaryFolder();
      const SHELL = join(HOME, "shell");
      writeFileSync(SHELL, text);
      chmodSync(SHELL, 0o755);
      const login = await loginEnvironment({ ...OF_SERVICE, HOME, SHELL });
      expect(login).toMatchObject({ PATH: "/usr/bin:/bin", LANG: "C.UTF-8" });
    },
    15_000,
  );

  test.each(["bash", "zsh", "fish"])(
    "has the profile in commands, and in terminals with %s",
    async (shell) => {
      const own = temporaryFolder();
      writeFileSync(join(own, "greet"), "#!/bin/sh\n", { mode: 0o755 });
      putProfiles(own, own);
      const bench = await Workbench.open({ env: { ...OF_SERVICE, HOME: own } });
      putProfiles(bench.home, own);
      const command = "echo $GREETING; command -v greet; printf é | wc -m; echo $LANG";
      const wanted = `hello\n${own}/greet\n1\nC.UTF-8\n`;
      expect((await bench.call("Bash", { command })).output).toBe(wanted);
      const { metadata } = await bench.call("TerminalCreate", { shell, cols: 200 });
      const input = { command, terminal: metadata?.terminal };
      expect((await bench.call("TerminalExecute", input)).output).toBe(wanted);
    },
  );
});
