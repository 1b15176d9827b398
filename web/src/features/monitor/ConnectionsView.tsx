/** With whom the machine's programs speak, and what waits for others. */
import { SegmentedControl, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { plural } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import table from "../../ui/result/TableView.module.css";
import { scrolled } from "../../ui/scrolled.ts";
import { shortLine } from "../../ui/visible-text.ts";
import { AskedNote } from "./AskedNote.tsx";
import { type Connection, type Connections, connectionsOf, MOST_CONNECTIONS } from "./connections.ts";
import classes from "./Monitor.module.css";
import { useAsked } from "./use-asked.ts";

const KINDS = [
  { value: "all", label: "All" },
  { value: "listening", label: "Waiting" },
  { value: "connected", label: "Connected" },
] as const;
type Kind = (typeof KINDS)[number]["value"];
const INPUTS = {
  all: {},
  listening: { listening: true },
  connected: { state: "ESTABLISHED" },
} as const satisfies Record<Kind, object>;

interface Props {
  readonly device: string;
  readonly everyMs: number;
  readonly isFollowed: boolean;
}

export function ConnectionsView({ device, everyMs, isFollowed }: Props) {
  const [kind, setKind] = useState<Kind>("all");
  const [text, setText] = useState("");
  const input = { ...INPUTS[kind], limit: MOST_CONNECTIONS };
  const { query, ...asked } = useAsked({
    ...{ device, everyMs, isFollowed, input },
    tool: "NetworkConnections",
    read: connectionsOf,
  });
  return (
    <>
      <div className={classes.filters}>
        <TextInput
          label="Filter"
          description="Text in address, port or process"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
        />
        <SegmentedControl aria-label="Which connections" data={[...KINDS]} value={kind} onChange={setKind} />
      </div>
      <AskedNote {...asked} readAgain={() => void query.refetch()} />
      <Loaded query={query}>
        {(connections) => <ConnectionTable connections={connections} text={text} />}
      </Loaded>
    </>
  );
}

function ConnectionTable({ connections, text }: { connections: Connections; text: string }) {
  const { rows, matching } = connections;
  const shown = useMemo(() => rows.filter((row) => holds(row, text.trim().toLowerCase())), [rows, text]);
  const rest = matching - rows.length;
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs" role="status">
        {plural(shown.length, "connection")}
        {rest > 0 && `, and ${rest} that are not shown`}. Of other people's programs the system may tell
        nothing.
      </Text>
      <div className={table.box} {...scrolled("Connections")}>
        <table className={table.table}>
          <thead>
            <tr>
              {["Protocol", "Here", "There", "State", "Process"].map((head) => (
                <th key={head} scope="col">
                  <span className={classes.head}>{head}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may be alike in all that is told
              <tr key={at}>
                <td>{shortLine(row.protocol)}</td>
                <td>{shortLine(row.local)}</td>
                <td>{row.remote === undefined ? "–" : shortLine(row.remote)}</td>
                <td>{stateWords(row)}</td>
                <td>
                  <bdi>{shortLine(row.process ?? "not known")}</bdi>
                  {row.pid !== undefined && ` (${row.pid})`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function holds({ local, remote, process, pid }: Connection, text: string): boolean {
  return [local, remote, process, pid].some((part) =>
    String(part ?? "")
      .toLowerCase()
      .includes(text),
  );
}

/** "Established", "Time wait". */
function stateWords({ state }: Connection): string {
  if (state === undefined) return "–";
  const words = shortLine(state).toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
