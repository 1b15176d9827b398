/** The tool that opens a web address in the browser. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Desktop } from "../desktop/desktop.ts";
import { openableAddress } from "../desktop/web-address.ts";
import type { Files } from "../fs/access.ts";

const input = z.strictObject({
  url: z.string().min(1).max(8192).describe("http, https or mailto"),
});

export function openUrlTool(files: Files, desktop: Desktop) {
  return defineTool({
    name: "OpenUrl",
    family: "desktop",
    effect: "execute",
    confinable: true,
    description: "Open a web address in the user's browser; does not return the page.",
    details:
      "mailto: opens the mail program. Returns the program used; see with `Screenshot` whether a window opened. Refused to callers with limits who may write where the user's programs are chosen.",
    input,
    unavailable: () => desktop.lackOfOpener(),
    model: { prompt: "Open URL in browser" },
    timeoutMs: 20_000,
    prepare: ({ url }) => ({ subjects: [openableAddress(url)] }),
    async preview({ url }, context) {
      await desktop.surroundingsOf(files, context).forOpeners();
      const address = openableAddress(url);
      return { summary: `Open ${address}`, url: address };
    },
    async handle({ url }, context) {
      const address = openableAddress(url);
      const surroundings = await desktop.surroundingsOf(files, context).forOpeners();
      context.signal.throwIfAborted();
      const { program, pid } = await desktop.open(address, surroundings);
      return {
        output: `${address} was passed to ${program}; whether a window opened is not known`,
        metadata: { url: address, handed_to: program, pid },
      };
    },
  });
}
