/** Names and values in two columns; those without a value are left out. */
import type { ReactNode } from "react";
import classes from "./Facts.module.css";
import { visibleLine } from "./visible-text.ts";

export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
        .map(([name, value]) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>
              <bdi>{typeof value === "string" ? visibleLine(value) : value}</bdi>
            </dd>
          </div>
        ))}
    </dl>
  );
}
