/** Every way that a file tool could reach a closed path is tried by an AI grant: each attempt has a name, and fails. */
import { linkSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import type { GrantScope } from "@matrx/shared/grant.ts";
import { makeGrantId } from "@matrx/shared/ids.ts";
import type { Policy } from "@matrx/shared/policy.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { linux } from "../../../agent/platform/linux/linux.ts";
import { bindMount } from "../../helpers/bind-mount.ts";
import { NEEDS_ROOT } from "../../helpers/parts.ts";
import { ENGINES, searcher } from "../search/searching.ts";
import { type CallOptions, failure, WAYS, Workbench } from "../tools/workbench.ts";

afterEach(() => vi.unstubAllEnvs());

const SECRET = "hunter2";

/** A home as people have it, and a grant for all of it. */
async function homeOf(platform?: (typeof WAYS)[number][1]) {
  const bench = await Workbench.open({ ...(platform && { platform }) });
  vi.stubEnv("HOME", bench.home);
  vi.stubEnv("XDG_DATA_HOME", undefined);
  await bench.put(".ssh/id_ed25519", SECRET);
  await bench.put(".netrc", SECRET);
  await bench.put(".bashrc", SECRET);
  await bench.put("dots/git/config", SECRET);
  await bench.put("keys/private", SECRET);
  await bench.put("proj/.env", SECRET);
  await bench.put("proj/.git/config", "[core]");
  await bench.put("proj/.git/hooks/pre-commit", SECRET);
  await bench.put("proj/notes.txt", "plain");
  await bench.put("proj/deep/er/.env.local", SECRET);
  await bench.put("nest/inner/wallet.kdbx", `\0${SECRET}`);
  await bench.put("odd/hooks/post-checkout", "evil");
  await bench.put("odd/notes", "plain");
  mkdirSync(bench.at(".config"));
  symlinkSync("../dots/git", bench.at(".config/git"));
  symlinkSync("keys", bench.at(".gnupg"));
  symlinkSync("../.ssh", bench.at("proj/folder-link"));
  symlinkSync("../.ssh/id_ed25519", bench.at("proj/file-link"));
  symlinkSync("file-link", bench.at("proj/second-link"));
  symlinkSync("../.ssh/none", bench.at("proj/dangling-link"));
  symlinkSync("../proj/notes.txt", bench.at(".ssh/out"));
  linkSync(bench.at(".netrc"), bench.at("proj/hard-link"));
  const grant: GrantScope = {
    id: makeGrantId(),
    owner: false,
    effects: ["read", "write", "execute"],
    paths: [bench.home],
  };
  const session = bench.newSession(grant);
  session.cwd = bench.home;
  const options: CallOptions = { grant, session };
  return { bench, grant, options };
}

const patch = (...lines: string[]) => ({
  patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
});

const ATTEMPTS: readonly (readonly [name: string, tool: string, input: Record<string, unknown>])[] = [
  ["read a key", "Read", { file_path: "~/.ssh/id_ed25519" }],
  ["read a key that does not exist", "Read", { file_path: "~/.ssh/none" }],
  ["read through dots", "Read", { file_path: "proj/../.ssh/id_ed25519" }],
  ["read in other letters", "Read", { file_path: "~/.SSH/ID_ed25519" }],
  ["read with an invisible character", "Read", { file_path: "~/.s\u200bsh/id_ed25519" }],
  ["read with the long s", "Read", { file_path: "~/.\u017f\u017fh/id_ed25519" }],
  ["read through a link to the folder", "Read", { file_path: "proj/folder-link/id_ed25519" }],
  ["read through a link to the file", "Read", { file_path: "proj/file-link" }],
  ["read through a link to a link", "Read", { file_path: "proj/second-link" }],
  ["read through a link to nothing", "Read", { file_path: "proj/dangling-link" }],
  ["read an open file through a link in a closed folder", "Read", { file_path: ".ssh/out" }],
  ["read below a closed file", "Read", { file_path: ".netrc/x" }],
  ["read through a hard link", "Read", { file_path: "proj/hard-link" }],
  ["read where a closed link leads", "Read", { file_path: "dots/git/config" }],
  ["read where a closed folder's link leads", "Read", { file_path: "keys/private" }],
  ["read a hook", "Read", { file_path: "proj/.git/hooks/pre-commit" }],
  ["read an environment file", "Read", { file_path: "proj/.env" }],
  ["read a PDF beside keys", "Read", { file_path: "~/.ssh/a.pdf", pages: "1" }],
  ["read a picture beside keys", "Read", { file_path: "~/.ssh/a.png" }],
  ["read a notebook beside keys", "Read", { file_path: "~/.ssh/a.ipynb" }],
  ["list a closed folder", "ListDirectory", { path: "~/.ssh" }],
  ["list through a link", "ListDirectory", { path: "proj/folder-link" }],
  ["list where a closed link leads", "ListDirectory", { path: "keys" }],
  ["draw a closed folder", "DirectoryTree", { path: "~/.ssh" }],
  ["search in a closed folder", "Grep", { pattern: SECRET, path: "~/.ssh" }],
  ["search a closed file", "Grep", { pattern: SECRET, path: "proj/.env" }],
  ["search a hard link", "Grep", { pattern: SECRET, path: "proj/hard-link" }],
  ["find files in a closed folder", "Glob", { pattern: "~/.ssh/*" }],
  ["find names in a closed folder", "search_files", { query: "id", path: "proj/folder-link" }],
  ["write a key", "Write", { file_path: "~/.ssh/authorized_keys", content: "evil" }],
  ["write a start-up file", "Write", { file_path: "~/.bashrc", content: "evil" }],
  ["write a new start-up file", "Write", { file_path: "~/.zshrc", content: "evil" }],
  [
    "write autostart where no folder is",
    "Write",
    { file_path: "~/.config/autostart/x.desktop", content: "evil" },
  ],
  ["write through a link to nothing", "Write", { file_path: "proj/dangling-link", content: "evil" }],
  ["write through a hard link", "Write", { file_path: "proj/hard-link", content: "evil" }],
  ["write a hook", "Write", { file_path: "proj/.git/hooks/post-merge", content: "evil" }],
  [
    "write a hook of a submodule",
    "Write",
    { file_path: "proj/.git/modules/sub/hooks/post-merge", content: "evil" },
  ],
  [
    "write a hook in a repository that does not exist",
    "Write",
    { file_path: "new/.git/hooks/x", content: "evil" },
  ],
  ["write git's configuration", "Write", { file_path: "proj/.git/config", content: "evil" }],
  [
    "write a submodule's configuration",
    "Write",
    { file_path: "proj/.git/modules/sub/config", content: "evil" },
  ],
  ["edit an environment file", "Edit", { file_path: "proj/.env", old_string: SECRET, new_string: "evil" }],
  [
    "edit git's configuration",
    "Edit",
    { file_path: "proj/.git/config", old_string: "core", new_string: "evil" },
  ],
  ["patch a start-up file", "ApplyPatch", patch("*** Update File: .bashrc", `-${SECRET}`, "+evil")],
  ["patch a new hook", "ApplyPatch", patch("*** Add File: proj/.git/hooks/x", "+evil")],
  ["patch a key away", "ApplyPatch", patch("*** Delete File: .ssh/id_ed25519")],
  [
    "patch a key to another place",
    "ApplyPatch",
    patch("*** Update File: .netrc", "*** Move to: proj/x", `-${SECRET}`, "+x"),
  ],
  [
    "patch a file into hooks",
    "ApplyPatch",
    patch("*** Update File: proj/notes.txt", "*** Move to: proj/.git/hooks/x", "-plain", "+evil"),
  ],
  [
    "patch relative to a closed folder",
    "ApplyPatch",
    { ...patch("*** Add File: x", "+evil"), path: "~/.ssh" },
  ],
  ["move a key out", "Move", { source: "~/.ssh/id_ed25519", destination: "proj/x" }],
  ["move an environment file", "Move", { source: "proj/.env", destination: "proj/x" }],
  ["move the folder of keys", "Move", { source: "~/.ssh", destination: "proj/x" }],
  [
    "move a file over a start-up file",
    "Move",
    { source: "proj/notes.txt", destination: "~/.bashrc", overwrite: true },
  ],
  ["move a file into hooks", "Move", { source: "odd/hooks/post-checkout", destination: "proj/.git/hooks/" }],
  ["rename .git to write into it", "Move", { source: "proj/.git", destination: "proj/x" }],
  ["rename the folder that .env is in", "Move", { source: "proj", destination: "moved" }],
  ["rename a folder above", "Move", { source: "nest", destination: "moved" }],
  ["rename the folder of settings", "Move", { source: "dots", destination: "moved" }],
  ["make a folder .git by moving one with hooks", "Move", { source: "odd", destination: "proj/deep/.git" }],
  ["make a folder .ssh by moving one", "Move", { source: "odd", destination: "proj/folder-link/x" }],
  ["delete a key", "Delete", { path: "~/.ssh/id_ed25519" }],
  ["delete a hard link of a closed file", "Delete", { path: "proj/hard-link" }],
  ["delete the folder of keys", "Delete", { path: "~/.ssh", recursive: true }],
  ["delete for good what holds .env", "Delete", { path: "proj", recursive: true, permanent: true }],
  ["delete a folder above", "delete_directory", { path: "nest", recursive: true }],
  ["delete git's configuration", "Delete", { path: "proj/.git/config" }],
  ["make a closed folder", "create_directory", { path: "~/.config/autostart" }],
  ["make a folder in a closed one", "create_directory", { path: "proj/folder-link/x" }],
  ["make a folder of hooks", "create_directory", { path: "new/.git/hooks" }],
  ["open a closed file on the screen", "OpenPath", { path: "proj/file-link" }],
  ["open a closed folder on the screen", "OpenPath", { path: "~/.ssh" }],
];

describe.each(WAYS)("an AI grant for the whole home, walked %s", (_way, platform) => {
  it("is refused each way to a closed path, and told no more than that it is closed", async () => {
    const { bench, options } = await homeOf(platform);
    const open: string[] = [];
    for (const [name, tool, input] of ATTEMPTS) {
      const error = await failure(bench.call(tool, input, options)).catch(() => undefined);
      const isClosed = error?.code === "PERMISSION_DENIED" && /closed|can't be changed/.test(error.message);
      const isToldMore = /exist|did you mean|hunter2/i.test(`${error?.message} ${error?.hint}`);
      if (!isClosed || isToldMore) open.push(`${name}: ${error?.message ?? "done"}`);
    }
    expect(open).toEqual([]);
    const untouched = [".ssh/id_ed25519", ".netrc", ".bashrc", "proj/.env", "proj/.git/hooks/pre-commit"];
    for (const file of untouched) expect(readFileSync(bench.at(file), "utf8")).toBe(SECRET);
    expect(readFileSync(bench.at("proj/.git/config"), "utf8")).toBe("[core]");
  });

  it("works beside them", async () => {
    const { bench, options } = await homeOf(platform);
    const read = async (file_path: string) => (await bench.call("Read", { file_path }, options)).output;
    expect(await read("proj/notes.txt")).toContain("plain");
    expect(await read("proj/.git/config")).toContain("core");
    await bench.call("Write", { file_path: "proj/.environment", content: "x" }, options);
    await bench.call("Move", { source: "odd", destination: "even" }, options);
    await bench.call("Delete", { path: "even", recursive: true }, options);
    await bench.call("Delete", { path: "proj/second-link" }, options);
    await bench.call("create_directory", { path: "proj/.github/x" }, options);
  });

  it("sees no closed name in a listing, a tree or a suggestion, and none is counted", async () => {
    const { bench, options } = await homeOf(platform);
    const listed = await bench.call("ListDirectory", { path: ".", show_hidden: true }, options);
    expect(listed.output.split("\n").sort()).toEqual([".config/", "dots/", "nest/", "odd/", "proj/"]);
    expect(listed.metadata).toMatchObject({ total: 5 });
    const tree = { path: ".", show_hidden: true, include_ignored: true, depth: 9 };
    const { output } = await bench.call("DirectoryTree", tree, options);
    expect(output.replaceAll(/ -> .*/g, "")).not.toMatch(/ssh|\.env|pre-commit|netrc|kdbx|private|more/);
    const near = await failure(bench.call("Read", { file_path: "proj/.en" }, options));
    expect(near.message).not.toContain(".env");
  });
});

describe.each(ENGINES)("searching a home with %s", (_engine, engines) => {
  it("finds nothing that is closed, nor tells that there was something", async () => {
    const { bench, options } = await homeOf();
    const { grep, glob } = searcher(bench, engines);
    const all = { show_hidden: true, include_ignored: true };
    const said = [
      await grep({ pattern: SECRET, ...all }, options),
      await grep({ pattern: SECRET, output: "count", ...all }, options),
      await grep({ pattern: SECRET }, options),
      await glob({ pattern: "**/{.env*,id_*,*.kdbx,.netrc,pre-commit}", ...all }, options),
      await glob({ pattern: "wallet.kdbx" }, options),
      await glob({ pattern: ".env*", limit: 1, ...all }, options),
      await bench.call("search_files", { query: "id_ed25519", show_hidden: true }, options),
      await bench.call("search_files", { query: ".env", show_hidden: true, limit: 1 }, options),
    ];
    for (const { output } of said) {
      expect(output).toMatch(/^\[No [^\]]*\]$/m);
      expect(output).not.toMatch(/id_ed25519|\.env|kdbx|netrc|pre-commit|there are more|NUL byte|left out:/i);
    }
    const { output } = await glob({ pattern: "**/*", ...all }, options);
    expect(
      output
        .split("\n")
        .filter((line) => !line.startsWith("["))
        .sort(),
    ).toEqual(["odd/hooks/post-checkout", "odd/notes", "proj/.git/config", "proj/notes.txt"]);
  });
});

describe("closed paths", () => {
  it("are those of both policies, of the grant, and of the list for secrets, which a grant can open", async () => {
    const { bench, grant, options } = await homeOf();
    const read = { file_path: "odd/notes" };
    const closing = { denied_paths: ["~/odd"] } satisfies Policy;
    const ways: [string, CallOptions][] = [
      ["the token's grant", { ...options, grant: { ...grant, denied_paths: ["~/odd"] } }],
      ["the device's policy", { ...options, policy: closing }],
      ["the owner's policy at the relay", { ...options, relayPolicy: closing }],
      ["the device's policy", { policy: closing }],
    ];
    for (const [by, how] of ways)
      expect((await failure(bench.call("Read", read, how))).message).toContain(`is closed by ${by}`);
    const secret = { file_path: "~/.ssh/id_ed25519" };
    const byDefault = await failure(bench.call("Read", secret, options));
    expect(byDefault.message).toContain("is closed by default, because it may hold secrets");
    const opened: CallOptions = { ...options, grant: { ...grant, secrets: "open" } };
    expect((await bench.call("Read", secret, opened)).output).toContain(SECRET);
    expect((await bench.call("Read", secret, { session: bench.newSession() })).output).toContain(SECRET);
  });

  it("hold for a grant of any path: secrets of the system, of other people, of another relay", async () => {
    const { bench, grant, options } = await homeOf({ ...linux, otherHomes: () => ["/home/bob", "/root"] });
    await bench.put("elsewhere/.matrx/keys.json", SECRET);
    const { paths: _paths, ...any } = grant;
    const read = (file_path: string) => bench.call("Read", { file_path }, { ...options, grant: any });
    const closed = [
      ...["/etc/shadow", "/etc/shadow-", "/etc/ssh/ssh_host_ed25519_key", "/etc/wireguard/wg0.conf"],
      ...["/home/bob/.ssh/config", "/home/carol/.netrc", "/root/.aws/credentials", "/root/.bash_history"],
      ...["/srv/relay/.matrx/keys.json", "/srv/home/.config/matrx/agent.json"],
      bench.at("elsewhere/.matrx/keys.json"),
    ];
    for (const path of closed)
      expect(await failure(read(path)), path).toMatchObject({
        code: "PERMISSION_DENIED",
        details: { reason: "CLOSED" },
      });
    expect((await read("/etc/passwd")).output).toContain("root");
    expect((await read(bench.at("proj/notes.txt"))).output).toContain("plain");
  });

  it("bind though the home folder is reached by a link, and whichever of its names a rule has", async () => {
    const { bench, grant, options } = await homeOf();
    const other = `${bench.home}-link`;
    symlinkSync(bench.home, other);
    vi.stubEnv("HOME", other);
    const tries: [string, readonly string[]][] = [
      [`${other}/.ssh/id_ed25519`, []],
      [`${bench.home}/.ssh/id_ed25519`, []],
      [`${bench.home}/odd/notes`, [`${other}/odd`]],
      [`${bench.home}/odd/notes`, [`${other}/od*`]],
      [`${other}/odd/notes`, [`${bench.home}/odd`]],
    ];
    for (const [file_path, denied_paths] of tries) {
      const limited = { ...options, grant: { ...grant, denied_paths: [...denied_paths] } };
      expect((await failure(bench.call("Read", { file_path }, limited))).message).toContain("is closed by");
    }
  });

  it("bind names with accents, composed or not", async () => {
    const { bench, grant, options } = await homeOf();
    await bench.put("caf\u00e9/x", SECRET);
    for (const glob of ["~/caf\u00e9", "**/cafe\u0301"]) {
      const limited = { ...options, grant: { ...grant, denied_paths: [glob] } };
      for (const file_path of ["caf\u00e9/x", "cafe\u0301/x", "CAF\u00c9/x"])
        expect((await failure(bench.call("Read", { file_path }, limited))).message).toContain("is closed by");
    }
  });

  it("bind under another mount", NEEDS_ROOT, async () => {
    const { bench, options } = await homeOf();
    using _mount = bindMount(bench.at(".ssh"), bench.at("mnt"));
    for (const [tool, input] of [
      ["Read", { file_path: "mnt/id_ed25519" }],
      ["ListDirectory", { path: "mnt" }],
      ["Write", { file_path: "mnt/x", content: "evil" }],
    ] as const)
      expect((await failure(bench.call(tool, input, options))).message).toContain("is closed by");
  });
});
