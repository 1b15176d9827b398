/** Short texts in a line. Each keeps its own direction, so that none changes the order of the others. */
import { Fragment } from "react";

export function Dotted({ parts }: { parts: readonly (string | false | undefined)[] }) {
  const shown = parts.filter(Boolean);
  return shown.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
    <Fragment key={at}>
      {at > 0 && " · "}
      <bdi>{part}</bdi>
    </Fragment>
  ));
}
