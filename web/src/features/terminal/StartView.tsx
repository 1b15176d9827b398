/** What is shown while no terminal is: a new one, or one that runs on the machine. */
import { Button, Text } from "@mantine/core";
import { IconTerminal2 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { RunningList } from "./RunningList.tsx";
import type { Room } from "./room.ts";
import classes from "./Terminal.module.css";
import type { Terminals } from "./use-terminals.ts";

interface Props {
  readonly machine: string;
  readonly room: Room | undefined;
  readonly terminals: Terminals;
  readonly filesLink: ReactNode;
}

export function StartView({ machine, room, terminals, filesLink }: Props) {
  return (
    <div className={classes.start}>
      <h2 className={classes.startTitle}>Terminals of {machine}</h2>
      <Text size="sm" c="dimmed">
        A terminal goes on when you close the page or lose the network, until you end it.
      </Text>
      <div className={classes.begin}>
        <Button
          leftSection={<IconTerminal2 size={18} aria-hidden />}
          loading={terminals.isBusy}
          onClick={() => void terminals.create()}
        >
          New terminal
        </Button>
        {filesLink}
      </div>
      {room && <RunningList room={room} terminals={terminals} opened={() => undefined} />}
    </div>
  );
}
