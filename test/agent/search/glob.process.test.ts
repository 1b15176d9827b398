import { globMatcher } from "@matrx/shared/glob.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathPattern } from "../../../agent/search/path-pattern.ts";
import { failure, Workbench } from "../tools/workbench.ts";

describe("a glob", () => {
  it("means what trying every way means", () => {
    const sign = fc.constantFrom("a", "b", ".", "*", "?", "[ab]", "[^a]", "[a-c]", "\\*");
    const text = fc.array(sign, { minLength: 1, maxLength: 4 }).map((signs) => signs.join(""));
    const name = fc.oneof(fc.constant("**"), text);
    const plain = fc.stringMatching(/^[ab.*]{1,4}$/);
    const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(some(name), some(plain), fc.boolean(), (globs, names, dot) => {
        const fits = globMatcher(globs.join("/"), { dot })(names.join("/"));
        expect(fits).toBe(anyWayFits(globs, names, dot));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["*.{ts,js}", "a/b.js", true],
    ["{a,b/{c,d}}/*.ts", "b/d/x.ts", true],
    ["{a,b/{c,d}}/*.ts", "b/x.ts", false],
    ["a{,b}.ts", "a.ts", true],
    ["{a}.ts", "{a}.ts", true],
    ["[{,}].ts", ",.ts", true],
    ["[!a].ts", "a.ts", false],
    ["[!a].ts", "b.ts", true],
    ["[]a].ts", "].ts", true],
    ["[a-].ts", "-.ts", true],
    ["[z-a].ts", "m.ts", false],
    ["[a.ts", "[a.ts", true],
    ["a(b|c)+.ts", "a(b|c)+.ts", true],
    ["src/**", "src/a/b.ts", true],
    ["src/**", "src", false],
    ["*/**", "a.ts", false],
    ["src/**/x.ts", "src/x.ts", true],
    ["?.ts", "😀.ts", true],
    ["[😀-😂].ts", "😁.ts", true],
    ["*.ts", ".a.ts", false],
    [".*", "a/.b", true],
    ["*.txt,*.js", "a/b.js", true],
    ["*.txt,*.js", "a/b.ts", false],
    [" *.txt , src/*.{js,ts} ", "src/a.ts", true],
    ["*.txt,src/*.{js,ts}", "a.ts", false],
    ["a,b.ts", "a,b.ts", true],
    ["a,b.ts", "x/b.ts", true],
    ["[a,b].ts", "c.ts", false],
    ["*.a\\,b", "x.a,b", true],
    ["*.txt,,", "x.txt", true],
    [",", ",", true],
  ])("%s, asked about %s", (pattern, path, fits) => {
    expect(pathPattern(pattern, false).matches(path)).toBe(fits);
  });

  it("takes no longer for many stars: a long name holds up nobody", async () => {
    const bench = await Workbench.open();
    const name = "a".repeat(200);
    await bench.put(`${"a/".repeat(200)}${name}`, "found\n");
    for (const pattern of [`${"*a".repeat(60)}*[b]`, `**/${"a/**/".repeat(60)}[b]`, `${"*".repeat(900)}b`]) {
      expect((await bench.call("Glob", { pattern })).metadata?.files).toEqual([]);
      expect((await bench.call("search_files", { query: pattern })).metadata?.results).toEqual([]);
      expect((await bench.call("Grep", { pattern: "found", include: pattern })).metadata?.matches).toEqual(
        [],
      );
    }
    const some = await bench.call("Glob", { pattern: `${"*a".repeat(60)}*` });
    expect(some.metadata?.files).toHaveLength(1);
  });

  it("with braces that stand for very many others is refused", async () => {
    const bench = await Workbench.open();
    const error = await failure(bench.call("Glob", { pattern: "{a,b}".repeat(100) }));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "pattern" } });
  });
});

function anyWayFits([glob, ...globs]: readonly string[], names: readonly string[], dot: boolean): boolean {
  const mayBeAny = (name: string) => dot || !name.startsWith(".");
  if (glob === undefined) return names.length === 0;
  if (glob === "**") {
    return [...names.keys(), names.length].some((count) => {
      if (globs.length === 0 && count === 0) return false;
      return names.slice(0, count).every(mayBeAny) && anyWayFits(globs, names.slice(count), dot);
    });
  }
  const [name, ...rest] = names;
  if (name === undefined || !(mayBeAny(name) || glob.startsWith("."))) return false;
  const expression = glob.replace(
    /\\\*|[.*?]/g,
    (sign) => ({ ".": "\\.", "*": ".*", "?": "." })[sign] ?? sign,
  );
  return new RegExp(`^${expression}$`).test(name) && anyWayFits(globs, rest, dot);
}
