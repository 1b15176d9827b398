// A client written from the Matrx Local guide alone: a WebSocket, fetch, and the messages the guide shows.
// As a program: node guide-client.mjs <base url> [rest|all]; the variable GUIDE_TOKEN holds a token if the server
// wants one. It prints one line for each promise of the guide: ok, not ok, or skip if the server lacks the tool.
import assert from "node:assert/strict";
import { argv, env, exit } from "node:process";
import { checkShape } from "./guide-expect.mjs";
import { restChecks } from "./guide-rest-checks.mjs";
import { address, GuideSession } from "./guide-session.mjs";
import { socketChecks } from "./guide-socket-checks.mjs";

/** The two transports of the guide on one base URL. The token is the only thing an outside server adds. */
class GuideClient {
  constructor(base, token) {
    this.base = base;
    this.token = token;
  }

  #headers(extra = {}) {
    return this.token ? { ...extra, Authorization: `Bearer ${this.token}` } : extra;
  }

  async list() {
    const response = await fetch(address(this.base, "/tools/list"), { headers: this.#headers() });
    assert.equal(response.status, 200);
    return await response.json();
  }

  async invoke(tool, input = {}) {
    const response = await fetch(address(this.base, "/tools/invoke"), {
      method: "POST",
      headers: this.#headers({ "Content-Type": "application/json" }),
      body: JSON.stringify({ tool, input }),
    });
    return checkShape(await response.json());
  }

  /** Runs `work` in a session of its own and checks the session's frames afterwards. */
  async session(work) {
    const session = await GuideSession.open(this.base, this.token);
    try {
      const result = await work(session);
      await session.finish();
      return result;
    } finally {
      session.close();
    }
  }
}

/** Why a check failed; null if it did not. */
function failureOf(running) {
  return running.then(
    () => null,
    (error) => (error instanceof Error ? error.message : String(error)).replaceAll("\n", " "),
  );
}

const client = new GuideClient(argv[2] ?? "http://localhost:8000", env.GUIDE_TOKEN);
const { tools } = await client.list();
const checks = argv[3] === "rest" ? restChecks : { ...restChecks, ...socketChecks };
console.log(`1..${Object.keys(checks).length}`);
let failed = false;
for (const [name, { needs, run }] of Object.entries(checks)) {
  const lacks = needs.filter((tool) => !tools.includes(tool));
  if (lacks.length > 0) {
    console.log(`skip ${name}: no ${lacks.join(", ")}`);
    continue;
  }
  const failure = await failureOf(run(client));
  console.log(failure === null ? `ok ${name}` : `not ok ${name}: ${failure}`);
  failed ||= failure !== null;
}
exit(failed ? 1 : 0);
