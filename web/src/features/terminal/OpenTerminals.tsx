/** The terminals that run on the machine, over what is shown. */
import { Modal } from "@mantine/core";
import { RunningList } from "./RunningList.tsx";
import type { Room } from "./room.ts";
import type { Terminals } from "./use-terminals.ts";

interface Props {
  readonly room: Room | undefined;
  readonly terminals: Terminals;
  readonly close: () => void;
}

export function OpenTerminals({ room, terminals, close }: Props) {
  return (
    <Modal opened onClose={close} title="Open on this machine" size="lg" transitionProps={{ duration: 0 }}>
      {room && <RunningList room={room} terminals={terminals} opened={close} />}
    </Modal>
  );
}
