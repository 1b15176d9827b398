/** FileInfo: describes a file or folder for programs that transfer it. */
import * as z from "zod";
import { defineTool } from "../core/tool.ts";
import type { Files } from "../fs/access.ts";
import type { Digests } from "../transfers/digests.ts";
import { describeTarget } from "../transfers/target.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("Absolute or relative path"),
  follow_links: z.boolean().optional().describe("false: refuse a path with symbolic links (default true)"),
});

export function fileInfoTool(files: Files, digests: Digests) {
  return defineTool({
    name: "FileInfo",
    family: "files",
    effect: "read",
    confinable: true,
    description:
      "Describe a file or folder for a transfer: kind, size, time of change, mode, media type, SHA-256 and etag. For programs.",
    details:
      "The etag is the SHA-256. A file over 1 GiB has no `sha256`, and an etag made of its identity and times; one that another program is writing has neither.",
    input,
    model: { hidden: true },
    timeoutMs: 120_000,
    prepare: ({ path }) => ({ paths: [{ path, intent: "read" }] }),
    async handle(request, context) {
      const access = await files.as(context);
      const { place, facts } = await describeTarget(access, request, digests, context);
      const size = facts.size === undefined ? "" : `, ${facts.size} bytes`;
      return { output: `${place.shown}: ${facts.kind}${size}`, metadata: { ...facts } };
    },
  });
}
