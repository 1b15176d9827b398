/** What runs on the machine: the busiest first, and one that is to end. */
import { Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useLack } from "../../machine/use-lack.ts";
import { ActionButton } from "../../ui/ActionButton.tsx";
import { ago, clockTime, size } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { type Order, SortHead } from "../../ui/result/SortHead.tsx";
import table from "../../ui/result/TableView.module.css";
import { scrolled } from "../../ui/scrolled.ts";
import { shortLine, visibleLine } from "../../ui/visible-text.ts";
import { WaitsForApproval } from "../../ui/WaitsForApproval.tsx";
import { AskedNote } from "./AskedNote.tsx";
import classes from "./Monitor.module.css";
import { MOST_PROCESSES, type Process, type Processes, processesOf } from "./processes.ts";
import { useAsked } from "./use-asked.ts";
import { useEnding } from "./use-ending.ts";

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
  readonly device: string;
  readonly everyMs: number;
  readonly isFollowed: boolean;
}

export function ProcessesView({ device, everyMs, isFollowed }: Props) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState<Order<Column>>({ column: "cpu", isDown: true });
  const [filter] = useDebouncedValue(text.trim(), TYPED);
  const input = { sort: order.column, limit: MOST_PROCESSES, ...(filter && { filter }) };
  const { query, ...asked } = useAsked({
    ...{ device, everyMs, isFollowed, input },
    tool: "ListProcesses",
    read: processesOf,
  });
  const ending = useEnding(device);
  const cannotEnd = useLack(device, "StopProcess");
  const readAgain = () => void query.refetch();
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
      <AskedNote {...asked} readAgain={readAgain} />
      {ending.waiting.map(({ pid, name }) => (
        <WaitsForApproval key={pid}>
          Ending <bdi>{shortLine(name)}</bdi> (process {pid})
        </WaitsForApproval>
      ))}
      {cannotEnd !== undefined && (
        <Text size="sm" mb="xs">
          None can be ended from here. {cannotEnd}
        </Text>
      )}
      <Loaded query={query}>
        {(processes) => (
          <ProcessTable
            {...{ processes, order, setOrder }}
            end={cannotEnd === undefined ? (one) => ending.end(one).then(readAgain) : undefined}
          />
        )}
      </Loaded>
    </>
  );
}

interface TableProps {
  readonly processes: Processes;
  readonly order: Order<Column>;
  readonly setOrder: (order: Order<Column>) => void;
  /** Undefined: none can be ended. */
  readonly end: ((process: Process) => Promise<void>) | undefined;
}

function ProcessTable({ processes: { rows, matching, total }, order, setOrder, end }: TableProps) {
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
              {end && (
                <th scope="col">
                  <span className={classes.unseen}>End it</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.map((process) => (
              <ProcessRow key={`${process.pid} ${process.started}`} {...{ process, end }} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface RowProps {
  readonly process: Process;
  readonly end: TableProps["end"];
}

function ProcessRow({ process, end }: RowProps) {
  const { pid, name, command, user, cpu, memory, started } = process;
  const named = visibleLine(name.slice(0, 60));
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
      <td className={classes.onDesk} title={clockTime(started)}>
        {ago(started)}
      </td>
      <td className={classes.onDesk}>
        <bdi>{shortLine(user ?? "not known")}</bdi>
      </td>
      <td className={`${classes.onDesk} ${classes.command}`} title={shortLine(command)}>
        <bdi>{shortLine(command)}</bdi>
      </td>
      {end && (
        <td className={classes.act}>
          <ActionButton
            size="compact-sm"
            variant="default"
            aria-label={`End ${named}, process ${pid}`}
            work={() => end(process)}
            ask={{
              text: `End ${named} (process ${pid})? What it has not saved is lost. It is asked to end, and killed after three seconds.`,
              yes: "End it",
              no: "Let it run",
            }}
          >
            End
          </ActionButton>
        </td>
      )}
    </tr>
  );
}
