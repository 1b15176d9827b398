/** The commands of README and guides, typed as they stand there; only addresses, ids and folders are this test's own. */
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { MATRX_BIN } from "../../scripts/matrx-bin.ts";
import { ROOT } from "../../scripts/tree.ts";
import { policySchema } from "../../shared/policy.ts";
import { endOf, lineOf, startMatrx } from "../agent/cli/matrx.ts";
import { temporaryFolder } from "../helpers/folder.ts";
import { shell } from "../helpers/launcher.ts";
import { connectMachine } from "../helpers/machine.ts";
import { startRelay } from "../helpers/relay.ts";
import { commandsOf } from "./commands.ts";

const GUIDES = readdirSync(join(ROOT, "docs/guides"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/guides/${name}`);
const PAGES = ["README.md", ...GUIDES];
/** What is typed here: each line by one reader, page after page. */
const READ = [["README.md", "docs/guides/ai.md", "docs/guides/mcp.md"], ["docs/guides/use.md"]];

const TASK = '"Which of my folders here is the largest?"';

/** Commands that are not typed here, and where they are tried. */
const ELSEWHERE = new Map([
  ["npm start", "test/scripts/start.process.test.ts"],
  ["npm test", "this run"],
  ["npx vitest run test/agent/edit/line-diff.test.ts", "this run"],
  ["npm run test:unit", "this run"],
  ["npm run test:changed", "test/scripts/changed-files.test.ts"],
  [`npx node docs/guides/ai/fetch-loop.mjs DEVICE ${TASK}`, "test/docs/ai.process.test.ts"],
  [`npx node docs/guides/ai/ai-sdk.mjs DEVICE ${TASK}`, "test/docs/ai.process.test.ts"],
  ...commandsOf(read("docs/guides/events.md")).map(
    (command) => [command, "test/docs/events-guide.process.test.ts"] as const,
  ),
  ...commandsOf(read("docs/guides/files.md")).map(
    (command) => [command, "test/docs/files-guide.process.test.ts"] as const,
  ),
  ...commandsOf(read("docs/guides/ports.md")).map(
    (command) => [command, "test/e2e/forward.test.ts, test/e2e/forward-programs.test.ts"] as const,
  ),
  ...commandsOf(read("docs/guides/terminal.md")).map(
    (command) => [command, "test/e2e/shell.test.ts"] as const,
  ),
  ...commandsOf(read("docs/guides/lost.md")).map(
    (command) => [command, "test/docs/lost.process.test.ts"] as const,
  ),
  ...commandsOf(read("docs/guides/home-mcp-servers.md")).map(
    (command) => [command, "test/e2e/mounts.test.ts, with a server of its own"] as const,
  ),
  ...commandsOf(read("docs/guides/client.md")).map(
    (command) => [command, "test/scripts/client-package.process.test.ts"] as const,
  ),
  ["npx wrangler login", "needs an account"],
  ["npm run deploy", "test/scripts/deploy.process.test.ts"],
  [
    "MATRX_URL=https://relay.example.org npm start",
    "test/docs/proxy.process.test.ts, test/scripts/options.test.ts",
  ],
  [
    "MATRX_URL=https://relay.example.org npm run deploy -- --domain relay.example.org",
    "test/scripts/deploy.process.test.ts",
  ],
  ["npx matrx serve --allow-origin http://localhost:8787", "test/web/direct.test.ts"],
  ["npm run link -- --qr", "test/scripts/link.process.test.ts"],
  ["npx --yes ./matrx-*.tgz up --relay https://relay.example", "test/scripts/agent-package.process.test.ts"],
  ["npx matrx up --relay https://relay.example.org", "test/agent/cli/account.process.test.ts"],
]);

function read(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

test("each command of the pages is typed here, or tried elsewhere", () => {
  for (const page of PAGES) expect(commandsOf(read(page)).length, page).toBeGreaterThan(1);
  const others = PAGES.filter((page) => !READ.flat().includes(page)).flatMap((page) =>
    commandsOf(read(page)),
  );
  expect(others.filter((command) => !ELSEWHERE.has(command))).toEqual([]);
});

test("every link of the guides leads to a file", () => {
  for (const page of GUIDES) {
    const links = [...read(page).matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path = ""]) => path);
    for (const link of links) expect(() => readFileSync(join(ROOT, page, "..", link)), link).not.toThrow();
  }
});

test("the example of a policy limits tools, folders and closed paths as it says", {
  timeout: 60_000,
}, async () => {
  const example = read("docs/guides/use.md").match(/^```json\n(.*?)\n```$/ms)?.[1] ?? "";
  const policy = policySchema.parse(JSON.parse(example));
  expect(policy).toHaveProperty("allowed_paths");
  for (const field of Object.keys(policySchema.shape))
    expect(read("docs/guides/use.md")).toContain(`\`${field}\``);
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const { id, agent } = await connectMachine(relay);
  onTestFinished(() => agent.stop());
  const folder = realpathSync(temporaryFolder());
  writeFileSync(join(folder, "notes"), "mine");
  writeFileSync(join(folder, ".env.local"), "secret");
  const place = join(relay.dataDir, "agent/policy.json");
  const call = async (tool: string, input: object) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(`${relay.url}/v1/devices/${id}/tools/${tool}`, {
      method: "POST",
      headers,
      body: JSON.stringify(input),
    });
    return answer.status;
  };
  const token = await relay.token();
  const statuses = async () => [
    await call("Read", { file_path: join(folder, "notes") }),
    await call("Read", { file_path: "/etc/hosts" }),
    await call("Read", { file_path: join(folder, ".env.local") }),
    await call("Write", { file_path: join(folder, crypto.randomUUID()), content: "" }),
    await call("Bash", { command: "true" }),
  ];
  expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
  writeFileSync(place, example.replace("/home/ann/projects", folder));
  await expect.poll(statuses).toEqual([200, 403, 403, 200, 403]);
  writeFileSync(place, "{");
  await expect.poll(statuses).toEqual([403, 403, 403, 403, 403]);
});

for (const pages of READ)
  test(`the commands of ${pages.join(", ")} do what they say`, { timeout: 240_000 }, async () => {
    const reader = await startReader();
    for (const command of pages.flatMap((page) => commandsOf(read(page)))) {
      if (!ELSEWHERE.has(command))
        expect(await reader.type(command), command).toMatch(reader.expected(command));
    }
  });

/** What a command prints; the first that fits counts. */
const EXPECTED: [RegExp, RegExp][] = [
  [/ login /, /"status":"signed_in"/],
  [/ pair /, /"status":"paired"/],
  [/ up( |$)/, /REGISTERED/],
  [/ whoami$/, /^owner at http/],
  [/ use DEVICE$/, /^\S+ \(\S+\)$/m],
  [/ -- uptime$/, /load average/],
  [/ call SystemInfo$|call DEVICE SystemInfo$/, /hostname/],
  [/ token create /, /^Saved to helper-token/m],
  [/ token list$/, /^helper +AI grant +may read, write/m],
  [/ token change /, /^helper .+ AI grant\n {2}may read in ~\/projects on /],
  [/ token revoke /, /^Revoked helper/],
  [/ share create /, /^https?:\/\/\S+\/#share=/m],
  [/ share list$/, /^NAME +SHARED/m],
  [/ approvals$/, /^No call waits for a decision/],
  [/ policy explain /, /^(Allowed|Asked|Refused): /m],
  [/ serve$/, /"url":"http:/],
  [/ activity$/, /"type":"started"/],
  [/ pause --everywhere$/, /^Stopped: AI grants can do nothing/],
  [/ resume --everywhere$/, /^AI grants may act again/],
  [/ pause$/, /^Paused: this machine is closed to all callers/],
  [/ resume$/, /^This machine is open to callers again/],
  [/ devices\b/, /^NAME +STATE[\s\S]*ONLINE/],
  [/ tools DEVICE$/, /^Bash +execute/m],
  [/ tools DEVICE Bash$/, /^Bash \(execute\)/],
  [/(run|call) .*uname -a/, /^(Linux|Darwin) /],
  [/ ListDirectory /, /"type": ?"success"/],
  [/ status /, /✓ tool +SystemInfo answered/],
  [/\/tools\/SystemInfo$/, /"type":"success"/],
  [/\/v1\/devices$/, /"state":"ONLINE"/],
  [/\?format=openai'$/, /"name":"local_bash"/],
  [/\/system-prompt$/, /^You have access to .*\n\n[\s\S]*- local_bash: /],
  [/\/tools\/list$/, /SystemInfo/],
  [/ --print-config /, /"mcp"[\s\S]*(projects"|read-only"|helper-token"|^ {6}\])/m],
  [/\/mcp$/, /"name":"list_devices"/],
  [/\/tools\/invoke$/, /"type":"success","output":"(Linux|Darwin) /],
];

function isRegistered(said: object): boolean {
  return "state" in said && said.state === "REGISTERED";
}

function isStarted(said: object): boolean {
  return "type" in said && said.type === "started";
}

/** Somebody with a relay, a machine and a terminal. */
async function startReader() {
  const relay = await startRelay();
  onTestFinished(() => relay.stop());
  const machine = await connectMachine(relay);
  onTestFinished(() => machine.agent.stop());
  const owner = await relay.signIn();
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const authorization = join(folder, "authorization");
  writeFileSync(authorization, `Authorization: Bearer ${await relay.token()}\n`, { mode: 0o600 });
  const own = new Map([
    ["http://localhost:8787", relay.url],
    ["https://relay.example", relay.url],
    [".matrx/authorization", authorization],
    ["DEVICE", machine.id],
    ["/tmp/second", join(folder, "second")],
  ]);

  function inOwnWords(command: string): string {
    return [...own].reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), command);
  }

  /** Starts a command that waits for somebody or runs on, and reads its JSON lines until it is where it should be. */
  async function begin(command: string, more: string[], status: (line: object) => boolean): Promise<string> {
    const [, elsewhere = home, rest = ""] = command.match(/^(?:MATRX_HOME=(\S+) )?npx matrx (.*)$/) ?? [];
    const child = startMatrx([...rest.split(" "), "--json", ...more], { home: elsewhere });
    const ended = endOf(child);
    const reached = JSON.stringify(await lineOf(child, status));
    if (!/^(login|pair|up --relay)/.test(rest)) return reached;
    const { code } = z.object({ code: z.string() }).parse(JSON.parse(reached));
    await relay.request(owner, `POST /v1/pairings/${code}/confirm`, z.unknown(), {});
    if (rest.startsWith("up")) return JSON.stringify(await lineOf(child, isRegistered));
    const { stdout, stderr } = await ended;
    return stdout + stderr;
  }

  return {
    expected(command: string): RegExp {
      const found = EXPECTED.find(([of]) => of.test(command));
      if (!found) throw new Error(`What should it print? ${command}`);
      return found[1];
    },
    async type(command: string): Promise<string> {
      const line = inOwnWords(command);
      if (/ login /.test(line)) return begin(line, [], () => true);
      if (/ pair | up --relay /.test(line)) return begin(line, ["--yes"], () => true);
      if (/ activity$/.test(line)) return begin(line, [], isStarted);
      if (/ up$/.test(line)) return begin(line, [], isRegistered);
      if (/ serve$/.test(line)) {
        const said = await begin(line, ["--port", "0"], () => true);
        const { url, token_file } = z
          .object({ url: z.string(), token_file: z.string() })
          .parse(JSON.parse(said));
        own.set("http://localhost:8000", url).set("TOKEN_FILE", token_file);
        return said;
      }
      const npx = `npx() { shift; MATRX_HOME='${home}' NO_COLOR=1 '${process.execPath}' '${MATRX_BIN}' "$@"; }`;
      return shell(`cd '${folder}'; exec < /dev/null\n${npx}\n${line}`);
    },
  };
}
