/** For fingers: the keys that a phone's keyboard lacks, and a line to write in before it is sent. */
import { ActionIcon, Textarea } from "@mantine/core";
import { IconKeyboard, IconSend2 } from "@tabler/icons-react";
import { type PointerEvent, type ReactNode, useState } from "react";
import { say, sayProblem } from "../../ui/notices.ts";
import { arrowKey, type Modifier, releaseModifiers, tapModifier, useModifiers } from "./modifiers.ts";
import { pasteable } from "./pasting.ts";
import classes from "./Terminal.module.css";
import type { TerminalView } from "./view.ts";

interface Props {
  /** The terminal that is used. */
  readonly view: () => TerminalView | undefined;
}

export function KeyBar({ view }: Props) {
  const type = (data: string) => view()?.type(data);
  const arrow = (letter: "A" | "B" | "C" | "D") => () =>
    type(arrowKey(letter, view()?.hasApplicationCursor ?? false));
  return (
    <div className={classes.touch}>
      <ComposeBar view={view} />
      <div role="toolbar" aria-label="Keys" className={classes.keys}>
        <Key name="Esc" act={() => type("\u001b")}>
          Esc
        </Key>
        <Key name="Tab" act={() => type("\t")}>
          Tab
        </Key>
        <Holding modifier="ctrl">Ctrl</Holding>
        <Holding modifier="alt">Alt</Holding>
        <Key name="Control C" act={() => type("\u0003")}>
          ^C
        </Key>
        <Key name="Up" act={arrow("A")}>
          ↑
        </Key>
        <Key name="Down" act={arrow("B")}>
          ↓
        </Key>
        <Key name="Left" act={arrow("D")}>
          ←
        </Key>
        <Key name="Right" act={arrow("C")}>
          →
        </Key>
        <Key name="Shift Tab" act={() => type("\u001b[Z")}>
          ⇧Tab
        </Key>
        <Key name="Control D" act={() => type("\u0004")}>
          ^D
        </Key>
        <Key
          name="Paste"
          act={() =>
            void view()
              ?.pasteClipboard()
              .catch(() =>
                sayProblem(
                  new Error("The browser does not say what was copied: paste it into the line above."),
                ),
              )
          }
        >
          Paste
        </Key>
      </div>
    </div>
  );
}

/** What has the focus keeps it, and with it the phone's keyboard. */
const keepFocus = (event: PointerEvent) => event.preventDefault();

interface KeyProps {
  readonly name: string;
  readonly act: () => void;
  readonly children: ReactNode;
}

function Key({ name, act, children }: KeyProps) {
  return (
    <button type="button" className={classes.key} aria-label={name} onPointerDown={keepFocus} onClick={act}>
      {children}
    </button>
  );
}

function Holding({ modifier, children }: { modifier: Modifier; children: string }) {
  const hold = useModifiers((held) => held[modifier]);
  return (
    <button
      type="button"
      className={classes.key}
      aria-label={hold === "locked" ? `${children}, locked` : children}
      aria-pressed={hold !== "off"}
      data-hold={hold}
      onPointerDown={keepFocus}
      onClick={({ timeStamp }) => tapModifier(modifier, timeStamp)}
    >
      {children}
    </button>
  );
}

/** Keyboards that correct words as they are written would type them twice into a terminal. */
function ComposeBar({ view }: Props) {
  const [text, setText] = useState("");
  const send = () => {
    releaseModifiers();
    const isTyped = view()?.type(`${pasteable(text).replaceAll("\n", "\r")}\r`) ?? false;
    if (isTyped) setText("");
    else say("The terminal takes no keys now: nothing was sent.");
  };
  return (
    <form
      className={classes.compose}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <ActionIcon
        variant="default"
        size={44}
        aria-label="Type into the terminal itself"
        onPointerDown={keepFocus}
        onClick={() => view()?.focus()}
      >
        <IconKeyboard size={20} />
      </ActionIcon>
      <Textarea
        aria-label="Type a command"
        placeholder="Type a command"
        autosize
        minRows={1}
        maxRows={4}
        autoCapitalize="off"
        className={classes.line}
        value={text}
        onChange={({ currentTarget: { value } }) => setText(value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <ActionIcon type="submit" size={44} aria-label="Send" onPointerDown={keepFocus}>
        <IconSend2 size={20} />
      </ActionIcon>
    </form>
  );
}
