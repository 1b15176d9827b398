/** A list of things with a name, what is known of them, and what can be done with each. */
import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Dotted } from "../../ui/Dotted.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./Items.module.css";

export function Items({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.items} aria-label={label}>
      {children}
    </ul>
  );
}

interface Props {
  readonly name: string;
  /** A state beside the name. */
  readonly state?: ReactNode;
  readonly about?: ReactNode;
  /** Softer, a line below. */
  readonly details?: readonly (string | false | undefined)[];
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

export function Item({ name, state, about, details = [], actions, children }: Props) {
  const told = details.filter((detail) => typeof detail === "string" && detail !== "");
  return (
    <li className={classes.item}>
      <div className={classes.head}>
        <div className={classes.words}>
          <div className={classes.title}>
            <h3 tabIndex={-1}>
              <bdi>{visibleLine(name)}</bdi>
            </h3>
            {state}
          </div>
          {about && <Text size="sm">{about}</Text>}
          {told.length > 0 && (
            <Text size="sm" c="dimmed">
              <Dotted parts={told} />
            </Text>
          )}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </div>
      {children}
    </li>
  );
}
