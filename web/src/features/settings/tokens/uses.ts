/** Lines by which programs use a new token. */
import type { Token } from "./queries.ts";

export interface Use {
  readonly name: string;
  readonly about: string;
  readonly lines: string;
}

type Created = Pick<Token, "credential" | "devices" | "tags"> & { readonly token: string };

export function usesOf(created: Created, relay: string): readonly Use[] {
  const { token, credential } = created;
  const header = `Authorization: Bearer ${token}`;
  const curl = {
    name: "curl",
    about: "Lists the machines that it reaches. The reference of the interface is at /docs.",
    lines: `curl -H '${header}' ${relay}/v1/devices`,
  };
  if (credential === "script")
    return [
      curl,
      {
        name: "matrx",
        about: "With the token saved in the file matrx-token, which only you should be able to read.",
        lines: `npx matrx devices --relay ${relay} --token-file matrx-token`,
      },
    ];
  const device = onlyDeviceOf(created);
  const address = `${relay}/mcp${device === undefined ? "" : `/d/${device}`}`;
  const config = { type: "http", url: address, headers: { Authorization: `Bearer ${token}` } };
  return [
    {
      name: "MCP",
      about: "For clients that take an address and a header.",
      lines: `${address}\n${header}`,
    },
    {
      name: "MCP file",
      about: "For clients that read JSON, such as Cursor, in ~/.cursor/mcp.json.",
      lines: JSON.stringify({ mcpServers: { matrx: config } }, undefined, 2),
    },
    {
      name: "Claude Code",
      about: "In a terminal, once.",
      lines: `claude mcp add --transport http matrx ${address} --header '${header}'`,
    },
    {
      name: "matrx mcp",
      about:
        "For clients that start a program. Save the token in the file matrx-token first; this prints what to put into the client's configuration.",
      lines: `npx matrx mcp ${device === undefined ? "--all-devices" : `--device ${device}`} --relay ${relay} --token-file matrx-token --print-config claude-desktop`,
    },
    curl,
  ];
}

function onlyDeviceOf({ devices, tags }: Created): string | undefined {
  return devices?.length === 1 && !tags ? devices[0] : undefined;
}
