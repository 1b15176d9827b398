/** What goes far, said before it is done. */
import { Alert } from "@mantine/core";
import type { Draft } from "./draft.ts";

export function Warnings({ draft: { writes, runs, ask, secrets, allFolders } }: { draft: Draft }) {
  const texts = [
    ask === "never" && (writes || runs) && "Files are changed or commands run without asking you.",
    secrets && "Passwords and keys that lie in files can be read.",
    allFolders && writes && "Files in every folder can be changed.",
  ].filter(Boolean);
  if (texts.length === 0) return null;
  return (
    <Alert color="yellow" variant="outline">
      {texts.join(" ")}
    </Alert>
  );
}
