/** What the description says: text and never markup, what is between backticks as code, hidden characters written out. */
import { visibleLine } from "../../ui/visible-text.ts";
import { WithCode } from "../../ui/WithCode.tsx";

export function Words({ text = "" }: { text?: string | undefined }) {
  return (
    <bdi>
      <WithCode text={visibleLine(text)} />
    </bdi>
  );
}
