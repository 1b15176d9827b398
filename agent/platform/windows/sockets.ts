/** Sockets from the system's own inventory: `netstat` speaks the language of its user. Never run: no Windows machine was at hand. */
import * as z from "zod";
import { runProgram } from "../run-program.ts";
import { chosen, type OwnedSocket, type SocketList, type SocketState } from "../sockets.ts";
import { powershellArguments, systemPowershell } from "./powershell.ts";

export const windowsSockets: SocketList = {
  async find(query) {
    const { stdout } = await runProgram(systemPowershell(process.env), powershellArguments(SCRIPT), {
      timeoutMs: 15_000,
    });
    return chosen(parseEndpoints(stdout.toString()), query);
  },
};

const SCRIPT = [
  "$ErrorActionPreference = 'Stop'",
  "$ProgressPreference = 'SilentlyContinue'",
  "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)",
  "$names = @{}",
  "Get-Process | ForEach-Object { $names[[int]$_.Id] = $_.ProcessName }",
  "$tcp = Get-NetTCPConnection | ForEach-Object { [pscustomobject]@{",
  "  local = $_.LocalAddress; port = $_.LocalPort; remote = $_.RemoteAddress; remote_port = $_.RemotePort",
  "  state = [int]$_.State; pid = [int]$_.OwningProcess; name = $names[[int]$_.OwningProcess] } }",
  "$udp = Get-NetUDPEndpoint | ForEach-Object { [pscustomobject]@{",
  "  local = $_.LocalAddress; port = $_.LocalPort",
  "  pid = [int]$_.OwningProcess; name = $names[[int]$_.OwningProcess] } }",
  "ConvertTo-Json -Compress -Depth 3 -InputObject @{ tcp = @($tcp); udp = @($udp) }",
].join("\n");

const endpoint = z.object({
  local: z.string(),
  port: z.number(),
  pid: z.number(),
  name: z.string().nullable(),
});
const endpointsSchema = z.object({
  tcp: z.array(endpoint.extend({ remote: z.string(), remote_port: z.number(), state: z.number() })),
  udp: z.array(endpoint),
});

/** By the system's numbers (MIB_TCP_STATE), from 1. */
const STATES: readonly (SocketState | undefined)[] = [
  ...([undefined, "CLOSED", "LISTEN", "SYN_SENT", "SYN_RECEIVED", "ESTABLISHED", "FIN_WAIT_1"] as const),
  ...(["FIN_WAIT_2", "CLOSE_WAIT", "CLOSING", "LAST_ACK", "TIME_WAIT", "CLOSED"] as const),
];
/** Has a port of its own, and is not connected. */
const BOUND = 100;

export function parseEndpoints(text: string): OwnedSocket[] {
  const { tcp, udp } = endpointsSchema.parse(JSON.parse(text));
  return [
    ...tcp.map(({ remote, remote_port, state, ...own }) => ({
      ...{ protocol: "tcp" as const, ...ownerOf(own) },
      remote: remote_port === 0 ? null : { address: remote, port: remote_port },
      state: state === BOUND ? "CLOSED" : (STATES[state] ?? null),
    })),
    ...udp.map((own) => ({ ...{ protocol: "udp" as const, ...ownerOf(own) }, remote: null, state: null })),
  ];
}

/** The idle process, 0, stands for none. */
function ownerOf({ local, port, pid, name }: z.infer<typeof endpoint>) {
  return { local: { address: local, port }, pid: pid === 0 ? null : pid, process: pid === 0 ? null : name };
}
