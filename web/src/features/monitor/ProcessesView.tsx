/** What runs on the machine: the busiest first, and one that is to end. */
import { Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { callTool } from "../../relay/call-tool.ts";
import type { DeviceLink } from "../../relay/streams/device-link.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { ago, size } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { say } from "../../ui/notices.ts";
import { type Order, SortHead } from "../../ui/result/SortHead.tsx";
import table from "../../ui/result/TableView.module.css";
import { scrolled } from "../../ui/scrolled.ts";
import { shortLine, visibleLine } from "../../ui/visible-text.ts";
import classes from "./Monitor.module.css";
import { type Process, type Processes, processesOf } from "./processes.ts";
import { useAsked } from "./use-asked.ts";

/** Rows that are asked for: more can be found by the filter. */
const MOST = 200;
const FILTER_CHARS = 256;
/** The machine is asked once nothing was typed for so long, in milliseconds. */
const TYPED = 300;

type Column = "pid" | "name" | "cpu" | "memory" | "started";

interface Head {
  readonly column: Column;
  readonly label: string;
  readonly isNumber: boolean;
  /** A phone has no room for it. */
  readonly isOnDesk?: boolean;
}

const COLUMNS = [
  { column: "name", label: "Name", isNumber: false },
  { column: "pid", label: "PID", isNumber: true, isOnDesk: true },
  { column: "cpu", label: "CPU", isNumber: true },
  { column: "memory", label: "Memory", isNumber: true },
  { column: "started", label: "Started", isNumber: false, isOnDesk: true },
] as const satisfies readonly Head[];
/** The machine sorts these with the highest first, and others with the lowest. */
const DOWN_FIRST: readonly Column[] = ["cpu", "memory", "started"];

interface Props {
  readonly link: DeviceLink | undefined;
  readonly everyMs: number;
  readonly isFollowed: boolean;
}

export function ProcessesView({ link, everyMs, isFollowed }: Props) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState<Order<Column>>({ column: "cpu", isDown: true });
  const [filter] = useDebouncedValue(text.trim(), TYPED);
  const input = { sort: order.column, limit: MOST, ...(filter && { filter }) };
  const query = useAsked({
    ...{ link, everyMs, isFollowed, input },
    tool: "ListProcesses",
    read: processesOf,
  });
  return (
    <>
      <div className={classes.filters}>
        <TextInput
          label="Filter"
          description="A pid, or text in name, command or user"
          leftSection={<IconSearch size={16} aria-hidden />}
          maxLength={FILTER_CHARS}
          value={text}
          onChange={({ currentTarget: { value } }) => setText(value)}
        />
      </div>
      <Loaded query={query}>
        {(processes) => (
          <ProcessTable {...{ processes, order, setOrder, link }} changed={() => void query.refetch()} />
        )}
      </Loaded>
    </>
  );
}

interface TableProps {
  readonly processes: Processes;
  readonly order: Order<Column>;
  readonly setOrder: (order: Order<Column>) => void;
  readonly link: DeviceLink | undefined;
  readonly changed: () => void;
}

function ProcessTable({ processes: { rows, matching, total }, order, setOrder, link, changed }: TableProps) {
  const isTurned = order.isDown !== DOWN_FIRST.includes(order.column);
  const shown = isTurned ? rows.toReversed() : rows;
  const rest = matching - rows.length;
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs" role="status">
        {matching === total ? `${total} processes` : `${matching} of ${total} processes`}
        {rest > 0 && `; the first ${rows.length} are shown`}. CPU: 100 % is one core.
      </Text>
      <div className={table.box} {...scrolled("Processes")}>
        <table className={`${table.table} ${classes.rows}`}>
          <thead>
            <tr>
              {COLUMNS.map(({ isOnDesk, ...each }: Head) => (
                <SortHead
                  key={each.column}
                  {...each}
                  className={isOnDesk ? classes.onDesk : undefined}
                  order={order}
                  isDownFirst={DOWN_FIRST.includes(each.column)}
                  sort={setOrder}
                />
              ))}
              <th scope="col" className={classes.onDesk}>
                <span className={classes.head}>User</span>
              </th>
              <th scope="col" className={classes.onDesk}>
                <span className={classes.head}>Command</span>
              </th>
              <th scope="col">
                <span className={classes.unseen}>End it</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((process) => (
              <ProcessRow key={`${process.pid} ${process.started}`} {...{ process, link, changed }} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface RowProps {
  readonly process: Process;
  readonly link: DeviceLink | undefined;
  readonly changed: () => void;
}

function ProcessRow({ process, link, changed }: RowProps) {
  const { pid, name, command, user, cpu, memory, started } = process;
  const named = visibleLine(name).slice(0, 60);
  return (
    <tr>
      <td className={classes.name} title={named}>
        <bdi>{named}</bdi>
      </td>
      <td data-number className={classes.onDesk}>
        {pid}
      </td>
      <td data-number>{cpu.toFixed(1)} %</td>
      <td data-number>{size(memory)}</td>
      <td className={classes.onDesk} title={new Date(started).toLocaleString()}>
        {ago(started)}
      </td>
      <td className={classes.onDesk}>
        <bdi>{visibleLine(user ?? "not known")}</bdi>
      </td>
      <td className={`${classes.onDesk} ${classes.command}`} title={visibleLine(command)}>
        <bdi>{visibleLine(command)}</bdi>
      </td>
      <td className={classes.act}>
        <ActionButton
          size="compact-sm"
          variant="default"
          aria-label={`End ${named}, process ${pid}`}
          disabled={link === undefined}
          work={() => end(link?.device ?? "", process).then(changed)}
          ask={{
            text: `End ${named} (process ${pid})? What it has not saved is lost. It is asked to end, and killed after three seconds.`,
            yes: "End it",
            no: "Let it run",
          }}
        >
          End
        </ActionButton>
      </td>
    </tr>
  );
}

const STOP = { name: "StopProcess", effect: "execute" } as const;

/** Throws ApiError: also what the machine said against it. */
async function end(device: string, { pid, started, name }: Process): Promise<void> {
  const { how } = await callTool(device, STOP, { pid, started });
  const named = shortLine(name);
  say(how === "killed" ? `${named} did not end by itself, and was killed.` : `${named} has ended.`);
}
