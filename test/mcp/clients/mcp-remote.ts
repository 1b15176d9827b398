/** mcp-remote as a program that an app with stdio alone starts: it signs in by itself, with a browser that it opens. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { processesOf } from "../../e2e/processes.ts";
import { FakePrograms } from "../../helpers/fake-programs.ts";
import { strangersFile } from "../strangers.ts";

const PROXY = strangersFile("mcp-remote/dist/proxy.js");
/** On a line of its own, which is whole. */
const ADDRESS = /^http\S+\/authorize\?\S+(?=\n)/gm;

export interface McpRemote {
  readonly client: Client;
  /** Resolves when the app is connected through it. */
  readonly connected: Promise<void>;
  /** All that it wrote to stderr. */
  said(): string;
  /** Each call resolves with one more address that it asked a person to visit. */
  asked(): Promise<string>;
  /** How many such addresses nobody has read. */
  unread(): number;
  /** Ends it; rejects if anything of it is left. */
  close(): Promise<void>;
}

/** `folder`: where it keeps what it knows. It ends with the test. */
export function startMcpRemote(url: string, folder: string, protocol: "legacy" | "auto"): McpRemote {
  // What it opens is no browser: the test has one, and reads the address.
  const programs = new FakePrograms().add("open", "exit 0");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROXY, url, "--transport", "http-only", "--protocol", protocol],
    env: {
      PATH: programs.path,
      HOME: folder,
      MCP_REMOTE_CONFIG_DIR: folder,
      BROWSER: programs.at("open"),
    },
    stderr: "pipe",
  });
  let said = "";
  let read = 0;
  const addresses = () => said.match(ADDRESS) ?? [];
  const heard = new Set<() => void>();
  transport.stderr?.on("data", (bytes: Buffer) => {
    said += bytes.toString();
    for (const listener of heard) listener();
  });
  const client = new Client({ name: "some app", version: "1" });
  const connected = client.connect(transport);
  // Whoever waits for it hears of it.
  connected.catch(() => undefined);
  const close = async () => {
    await client.close();
    const left = processesOf(folder);
    if (left.length > 0) throw new Error(`mcp-remote left behind: ${left}`);
  };
  onTestFinished(close);
  return {
    ...{ client, connected, close },
    said: () => said,
    unread: () => addresses().length - read,
    async asked() {
      const wanted = read++;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = () => {
        const address = addresses()[wanted];
        if (address) resolve(address);
      };
      heard.add(look);
      const ended = () => reject(new Error(`mcp-remote ended:\n${said}`));
      transport.stderr?.once("end", ended);
      look();
      try {
        return await promise;
      } finally {
        heard.delete(look);
        transport.stderr?.off("end", ended);
      }
    },
  };
}
