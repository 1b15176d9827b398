/** The parameters of a call, as far as they are kept: shortened, and without secrets. */
import { inTellingOrder } from "../../ui/telling-input.ts";
import { visibleLine, visibleLines } from "../../ui/visible-text.ts";
import classes from "./Parameters.module.css";

interface Props {
  readonly input: Readonly<Record<string, string>>;
  /** Only the first ones, and of each the first lines. */
  readonly isShort?: boolean;
}

const FIRST = 3;

export function Parameters({ input, isShort = false }: Props) {
  const all = inTellingOrder(input);
  if (all.length === 0) return null;
  const shown = isShort ? all.slice(0, FIRST) : all;
  return (
    <div className={classes.parameters} data-short={isShort || undefined}>
      {shown.map(([name, value]) => (
        <code key={name}>
          <span className={classes.name}>{visibleLine(name)}:</span>{" "}
          <bdi>{isShort ? withoutRoom(value) : visibleLines(value)}</bdi>
        </code>
      ))}
      {shown.length < all.length && (
        <span className={classes.name}>and {all.length - shown.length} more</span>
      )}
    </div>
  );
}

/** What is cut after two lines must not be pushed out of them. */
function withoutRoom(value: string): string {
  return visibleLines(value).replace(/ {9,}/g, (room) => ` [${room.length} spaces] `);
}
