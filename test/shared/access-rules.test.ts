import { askRuleSchema, ClosedPaths, fitsTool, mustAsk, pathGlobSchema } from "@matrx/shared/access-rules.ts";
import { fitsWildcard } from "@matrx/shared/commands/subject.ts";
import { HOME_PATHS, SECRET_PATHS, SYSTEM_PATHS, UNCHANGEABLE_PATHS } from "@matrx/shared/secret-paths.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const HOME = "/home/ann";

describe("closed paths", () => {
  it.each([
    ["~/.ssh", "/home/ann/.ssh"],
    ["~/.ssh", "/home/ann/.ssh/id_ed25519"],
    ["~/.ssh", "/home/ann/.SSH/config"],
    ["~/.ssh/", "/home/ann/.ssh/config"],
    ["~/.ssh/**", "/home/ann/.ssh/config"],
    ["**/.env*", "/srv/app/.env"],
    ["**/.env*", "/srv/app/.env.local"],
    ["**/.env*", "/.env"],
    ["**/.git/hooks", "/srv/app/.git/hooks/pre-commit"],
    ["~/.config/google-chrome*", "/home/ann/.config/google-chrome-beta/Default/Cookies"],
    ["/srv/[ab]", "/srv/a/x"],
    ["C:\\Secrets", "c:/secrets/a.txt"],
    ["/", "/anything"],
    ["~", "/home/ann/x"],
    ["/srv/e\u0301", "/srv/\u00e9"],
  ])("%s closes %s", (glob, path) => {
    expect(new ClosedPaths([glob], HOME).closing(path)).toBe(glob);
  });

  it.each([
    ["~/.ssh", "/home/ann/.sshd"],
    ["~/.ssh", "/home/bob/.ssh/id"],
    ["~/.ssh", "/home/ann"],
    ["**/.env", "/srv/.environment"],
    ["/srv/*", "/srv"],
    ["/srv/a", "/srv/ab"],
  ])("%s leaves %s open", (glob, path) => {
    expect(new ClosedPaths([glob], HOME).closing(path)).toBeUndefined();
  });

  it("takes a home folder's name literally", () => {
    const closed = new ClosedPaths(["~/.ssh"], "/home/a*[b]?");
    expect(closed.closing("/home/a*[b]?/.ssh")).toBe("~/.ssh");
    expect(closed.closing("/home/axb1/.ssh")).toBeUndefined();
  });

  it("closes everything below what it closes, in whatever order its globs stand", () => {
    const names = fc.constantFrom("a", "b", ".env", ".ssh", "x.key");
    const globs = fc.subarray(["/a", "/a/b", "**/.env", "/b/*", "**/.ssh/x.key", "~/a"], { minLength: 1 });
    fc.assert(
      fc.property(globs, fc.array(names, { minLength: 1, maxLength: 5 }), names, (some, path, more) => {
        const at = `/${path.join("/")}`;
        const [forwards, backwards] = [some, some.toReversed()].map((all) => new ClosedPaths(all, HOME));
        expect(forwards?.closing(at) === undefined).toBe(backwards?.closing(at) === undefined);
        if (forwards?.closing(at) !== undefined)
          expect(forwards.closing(`${at}/${more}`)).toBe(forwards.closing(at));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ...[
      "/srv/app/.env~",
      "/srv/app/.env.swp",
      "/srv/app/#.env#",
      "/srv/app/.env.local~",
      "/srv/app/.env-prod",
    ],
    ...["/home/ann/.claude/.credentials.json", "/home/ann/.codex/auth.json", "/home/ann/.Xauthority"],
    ...["/home/ann/.librewolf/x/cookies.sqlite", "/home/ann/.cache/mozilla/firefox/x", "/home/ann/.zen/x"],
  ])("are secrets by default: %s", (path) => {
    expect(new ClosedPaths(SECRET_PATHS, HOME).closing(path)).toBeDefined();
  });

  it.each(["/srv/app/env.ts", "/srv/app/.environment", "/home/ann/.claude/CLAUDE.md", "/srv/app/#x#"])(
    "are no secrets by default: %s",
    (path) => {
      expect(new ClosedPaths(SECRET_PATHS, HOME).closing(path)).toBeUndefined();
    },
  );

  it("has a default list of globs that are valid", () => {
    for (const glob of [...SECRET_PATHS, ...UNCHANGEABLE_PATHS, ...HOME_PATHS, ...SYSTEM_PATHS])
      expect([glob, pathGlobSchema.safeParse(glob).success]).toEqual([glob, true]);
  });
});

describe("a glob of paths", () => {
  it.each(["", "secrets", "./x", "/a/../b", "/a//b", "/a/[bc", "/a\nb", "*/x", "~ann/x"])(
    "is not %j",
    (glob) => {
      expect(pathGlobSchema.safeParse(glob).success).toBe(false);
    },
  );
});

describe("names of tools", () => {
  it("fit by name or glob", () => {
    expect(fitsTool(["Read"], "Read")).toBe(true);
    expect(fitsTool(["Read"], "ReadX")).toBe(false);
    expect(fitsTool(["files__*"], "files__list")).toBe(true);
    expect(fitsTool(["*"], "anything")).toBe(true);
    expect(fitsTool([], "Read")).toBe(false);
  });

  it("fit a wildcard as a regular expression says", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "\n"), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", "?"), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (glob, value) => {
        const expression = glob.replaceAll("*", "[^]*").replaceAll("?", "[^]");
        expect(fitsWildcard(glob, value)).toBe(new RegExp(`^${expression}$`).test(value));
      }),
      { numRuns: 3000 },
    );
  });
});

describe("a rule that asks", () => {
  const call = { tool: "Bash", effect: "execute", subjects: ["git push origin"] } as const;

  it.each([
    [{}, true],
    [{ effects: ["execute"] }, true],
    [{ effects: ["write"] }, false],
    [{ tools: ["B*"] }, true],
    [{ tools: ["Write"] }, false],
    [{ match: "git push*" }, true],
    [{ match: "rm *" }, false],
    [{ effects: ["execute"], except: ["Bash"] }, false],
  ])("%j of a push: %s", (rule, asks) => {
    expect(mustAsk(askRuleSchema.parse(rule), call)).toBe(asks);
  });

  it("may fit a call whose paths are not known yet", () => {
    expect(mustAsk({ match: "/srv/*" }, { tool: "Write", effect: "write" })).toBe(true);
  });

  it.each([{ effects: [] }, { tool: "Bash" }, { tools: [] }, { match: "" }, { at: "machine" }])(
    "is not %j",
    (rule) => {
      expect(askRuleSchema.safeParse(rule).success).toBe(false);
    },
  );
});
