/** Where the browser takes the answer: a site, or a program on the person's own computer. */
import { visibleLine } from "../../ui/visible-text.ts";
import type { Asked } from "./use-request.ts";

export function WhereTo({ host, isLocal }: Pick<Asked, "host" | "isLocal">) {
  if (isLocal) return "a program on the computer where this browser runs";
  const shown = <bdi>{visibleLine(host)}</bdi>;
  if (!host.endsWith(":")) return shown;
  return <>the program that opens {shown} addresses on this computer</>;
}
