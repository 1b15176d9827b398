/** The terminals that run on the machine: to be shown here, or ended. */
import { Button, Text } from "@mantine/core";
import { useQuery } from "../../data/query.ts";
import { ago, plural } from "../../ui/format.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { nameInText, shortLine } from "../../ui/visible-text.ts";
import { type OpenTerminal, shellName } from "./messages.ts";
import type { Room } from "./room.ts";
import classes from "./Terminal.module.css";
import type { Terminals } from "./use-terminals.ts";

interface Props {
  readonly room: Room;
  readonly terminals: Terminals;
  /** One of them is shown now. */
  readonly opened: () => void;
}

export function RunningList({ room, terminals, opened }: Props) {
  const query = useQuery({
    queryKey: ["terminals", room.device],
    queryFn: () => room.list(),
    refetchOnMount: "always",
  });
  return (
    <Loaded query={query}>
      {(running) =>
        running.length === 0 ? (
          <Text size="sm" c="dimmed">
            No terminal is open on this machine.
          </Text>
        ) : (
          <ul className={classes.running} aria-label="Open on this machine">
            {running.map((one) => (
              <li key={one.terminal} className={classes.runs}>
                <RunningWords terminal={one} />
                <Button
                  size="xs"
                  aria-label={`${one.own ? "Open" : "Watch"} ${nameOf(one)}`}
                  onClick={() => {
                    terminals.open(one);
                    opened();
                  }}
                >
                  {one.own ? "Open" : "Watch"}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  aria-label={`End ${nameOf(one)}`}
                  onClick={() => void terminals.end(one).then(() => query.refetch())}
                >
                  End
                </Button>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function RunningWords({ terminal }: { terminal: OpenTerminal }) {
  const { foreground, cwd, started, viewers, own, recorded } = terminal;
  const facts = [
    shortLine(cwd),
    `opened ${ago(started)}`,
    viewers > 0 && plural(viewers, "viewer"),
    !own && "another caller's",
    recorded && "what it shows is recorded on the machine",
  ];
  return (
    <div className={classes.words}>
      <bdi className={classes.what}>{nameOf(terminal)}</bdi>
      {foreground !== undefined && <code className={classes.foreground}>{shortLine(foreground)}</code>}
      <Text size="xs" c="dimmed">
        {facts.filter(Boolean).join(" · ")}
      </Text>
    </div>
  );
}

function nameOf({ name, title, shell }: OpenTerminal): string {
  return nameInText(name ?? (title || shellName(shell)));
}
