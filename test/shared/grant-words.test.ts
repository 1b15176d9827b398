/** The sentence that says what a grant allows. */
import { expect, it } from "vitest";
import { grantWords } from "../../shared/grant-words.ts";
import { FAMILIES } from "../../shared/tool-families.ts";

const EXPIRES = Date.parse("2027-02-20T10:00:00Z");
const AI = {
  kind: "api",
  owner: false,
  effects: ["read", "write", "execute"],
  ask: [{ effects: ["write", "execute"] }],
  expires: EXPIRES,
} as const;

const words = (grant: object) =>
  grantWords({ ...structuredClone(AI), ...grant } as never, (id) => (id === "laptop-1" ? "laptop" : id));

it.each([
  [
    { paths: ["~/projects"], devices: ["laptop-1"] },
    "may read, write and run commands in ~/projects on laptop; asks before it writes or runs commands; expires 2027-02-20",
  ],
  [
    { effects: ["read"], ask: [], tags: ["work", "home"], secrets: "open" },
    "may read on every device tagged work or home; never asks; sees secrets such as ~/.ssh; expires 2027-02-20",
  ],
  [
    {
      tools: ["Read", "Bash"],
      denied_paths: ["**/secret"],
      network: ["npmjs.org"],
      ask: [
        { effects: ["write"], except: ["Edit"] },
        { tools: ["Bash"], match: "git push*" },
      ],
    },
    "may read, write and run commands on all your devices; uses only Read and Bash; never touches **/secret; asks before it writes (except by Edit); asks before it uses Bash where git push* fits; its commands may reach npmjs.org; expires 2027-02-20",
  ],
  [
    { effects: ["read"], ask: [], tool_families: ["files", "system", "files"] },
    "may read on all your devices; never asks; starts with files and system tools; expires 2027-02-20",
  ],
  [
    { effects: ["read"], ask: [], tool_families: [...FAMILIES] },
    "may read on all your devices; never asks; starts with all tools; expires 2027-02-20",
  ],
  [
    { owner: true, ask: undefined, devices: ["laptop-1", "x-2"] },
    "acts as you: may read, write and run commands on laptop and x-2; is not for an AI; expires 2027-02-20",
  ],
  [
    { kind: "web", owner: true, ask: undefined },
    "may do what you may on all your devices; expires 2027-02-20",
  ],
])("%j", (grant, sentence) => {
  expect(words(grant)).toBe(sentence);
});

it("names the start of a long list", () => {
  const paths = Array.from({ length: 20 }, (_, n) => `/srv/${n}`);
  expect(words({ paths })).toContain("/srv/7 and 12 more on");
});
