/** Commands of an AI grant for a whole home: what begins with a dot is the owner's alone, and work goes on all the same. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import { describe, expect, it } from "vitest";
import { Workbench } from "../tools/workbench.ts";
import { NEEDS_SANDBOX } from "./needs-sandbox.ts";

/** A home as people have it, and commands of an AI that was granted these paths of it. */
async function openHome(...granted: readonly string[]) {
  const bench = await Workbench.open();
  await bench.put(".config/foo/settings", "owner's");
  await bench.put(".config/foo/.git/config", "[core]\n");
  await bench.put(".config/foo/.env", "SECRET");
  await bench.put(".local/bin/git", "owner's");
  await bench.put(".local/share/x/.env", "SECRET");
  await bench.put(".tmux.conf", "owner's");
  await bench.put("bin/git", "owner's");
  await bench.put("dotfiles/vimrc", "owner's");
  await bench.put("project/notes", "plain");
  mkdirSync(bench.at(".npm"));
  symlinkSync("dotfiles/vimrc", bench.at(".gvimrc"));
  const grant: GrantScope = {
    ...{ id: makeGrantId(), owner: false, effects: ["read", "write", "execute"] },
    paths: [bench.home, ...granted.map((name) => bench.at(name))],
  };
  const session = bench.newSession(grant);
  session.cwd = bench.at("project");
  const run = async (command: string) => (await bench.call("Bash", { command }, { grant, session })).output;
  return { bench, run };
}

describe("a command that was granted a home", NEEDS_SANDBOX, () => {
  it("changes nothing that begins with a dot, nor programs in bin, and makes nothing of the kind", async () => {
    const { bench, run } = await openHome();
    // What `mv` may not take away, it copies.
    const names = () =>
      (readdirSync(bench.home, { recursive: true }) as string[])
        .filter((name) => !name.startsWith("project/"))
        .sort();
    const before = names();
    await run(
      [
        "cd ~",
        "for f in .tmux.conf .local/bin/git .config/foo/settings bin/git dotfiles/vimrc .gvimrc; do echo evil >> $f; rm -f $f; done",
        "for f in .new .screenrc .local/bin/new .config/new .cargo/env bin/new; do mkdir -p $(dirname $f); echo evil > $f; done",
        "for f in .config .local .npm bin .tmux.conf; do mv $f project/; mv $f gone; rm -rf $f; done",
        "mkdir project/made; mv project/made .made; mv project .project; ln -s project .link; ln project/notes .hard",
        "ln .tmux.conf project/hard; mv -T project/made bin; rmdir project/made; true",
      ].join("\n"),
    );
    expect(names()).toEqual(before);
    for (const file of [".tmux.conf", ".local/bin/git", ".config/foo/settings", "bin/git", "dotfiles/vimrc"])
      expect(readFileSync(bench.at(file), "utf8")).toBe("owner's");
  });

  it("reads what is no secret there, and works in the rest", async () => {
    const { bench, run } = await openHome();
    const output = await run(
      "cat ~/.tmux.conf ~/.config/foo/settings; cat ~/.local/share/x/.env ~/.config/foo/.env; echo new > notes; echo new > .env.md; mkdir ~/dotfiles/more",
    );
    expect(output).toMatch(/^owner'sowner's(?!.*SECRET)/s);
    expect(readFileSync(bench.at("project/notes"), "utf8")).toBe("new\n");
    expect(existsSync(bench.at("dotfiles/more"))).toBe(true);
  });

  it("changes what its grant names, but for what is never changed", async () => {
    const { bench, run } = await openHome(".config/foo", "dotfiles/vimrc");
    const output = await run(
      [
        "cd ~/.config; echo new > foo/settings; echo new > foo/more; echo new > ~/dotfiles/vimrc",
        "echo evil > bar; echo evil > foo/.git/config; cat foo/.env; mv foo foo2; echo evil >> ~/.tmux.conf; true",
      ].join("\n"),
    );
    expect(output).not.toContain("SECRET");
    expect(readFileSync(bench.at(".config/foo/settings"), "utf8")).toBe("new\n");
    expect(readFileSync(bench.at("dotfiles/vimrc"), "utf8")).toBe("new\n");
    expect(readFileSync(bench.at(".config/foo/.git/config"), "utf8")).toBe("[core]\n");
    expect(readdirSync(bench.at(".config/foo")).sort()).toEqual([".env", ".git", "more", "settings"]);
    expect(readdirSync(bench.at(".config"))).toEqual(["foo"]);
    expect(readFileSync(bench.at(".tmux.conf"), "utf8")).toBe("owner's");
  });

  it("installs packages, with a cache of its own", async () => {
    const { bench, run } = await openHome();
    await bench.put("project/dep/package.json", '{"name":"dep","version":"1.0.0"}');
    await bench.put("project/app/package.json", '{"name":"app","version":"1.0.0"}');
    await run(
      "cd dep && npm pack && cd ../app && npm install ../dep/dep-1.0.0.tgz && echo $XDG_CACHE_HOME > made",
    );
    expect(readdirSync(bench.at("project/app/node_modules"))).toContain("dep");
    expect(readFileSync(bench.at("project/app/made"), "utf8")).toBe("/tmp/.cache\n");
    expect(readdirSync(bench.at(".npm"))).toEqual([]);
  });

  it("keeps packages in the home's own cache, if its grant names that", async () => {
    const { bench, run } = await openHome(".npm");
    await run("touch $HOME/.npm/kept; printenv npm_config_cache > made; true");
    expect(readFileSync(bench.at("project/made"), "utf8")).toBe("");
    expect(readdirSync(bench.at(".npm"))).toEqual(["kept"]);
  });
});
