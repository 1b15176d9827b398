/** Text with names in backticks, as those who describe tools write them. */
import { Fragment, type ReactNode } from "react";

interface Props {
  readonly text: string;
  /** How a name is drawn, if not only as code. */
  readonly name?: (name: string) => ReactNode;
}

export function WithCode({ text, name = (said) => <code>{said}</code> }: Props) {
  return text.split(/`([^`\n]{1,128})`/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
    <Fragment key={at}>{at % 2 === 1 ? name(part) : part}</Fragment>
  ));
}
