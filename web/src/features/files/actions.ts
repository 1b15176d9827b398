/** What changes a machine's files. Each is one call of a tool, made once. */
import { ApiError } from "../../relay/api-error.ts";
import { callTool } from "../../relay/call-tool.ts";
import { confirmed } from "../../ui/confirm.ts";
import { say, sayProblem } from "../../ui/notices.ts";
import { nameInText } from "../../ui/visible-text.ts";
import type { Placed } from "./dialog.ts";
import { joined, parentOf } from "./paths.ts";
import { noteUndo } from "./undo.ts";
import { forgetFolder } from "./use-folder.ts";

/** Throws ApiError. */
export async function makeFolder(device: string, folder: string, name: string): Promise<void> {
  checkName(name);
  const input = { path: joined(folder, name), recursive: false };
  const { created } = await callTool(device, { name: "create_directory", effect: "write" }, input);
  if (created === false) throw takenError(name);
  forgetFolder(device, folder);
}

/** Throws ApiError: also if something has that name. */
export async function rename({ device, folder, entry }: Placed, name: string): Promise<void> {
  checkName(name);
  await move(device, joined(folder, entry.name), joined(folder, name));
  forgetFolder(device, folder);
}

/** Into another folder, under the same name. Throws ApiError. */
export async function moveInto({ device, folder, entry }: Placed, to: string): Promise<void> {
  await move(device, joined(folder, entry.name), joined(to, entry.name));
  forgetFolder(device, folder);
  forgetFolder(device, to);
}

async function move(device: string, source: string, destination: string): Promise<void> {
  const input = { source, destination, create_directories: false };
  await callTool(device, { name: "Move", effect: "write" }, input);
}

/** Asks first, and offers to take it back where the machine tells where it put it. Says what fails. */
export async function deleteEntry({ device, folder, entry }: Placed): Promise<void> {
  const path = joined(folder, entry.name);
  const name = nameInText(entry.name);
  const isTree = entry.type === "directory";
  const what = isTree ? `the folder ${name} with all that is in it` : name;
  if (!(await confirmed({ text: `Move ${what} to the trash of the machine?`, yes: "Move to trash" }))) return;
  try {
    const tool = { name: "Delete", effect: "execute" } as const;
    const { trash_path: trash } = await callTool(device, tool, { path, recursive: isTree });
    forgetFolder(device, folder);
    if (typeof trash === "string") noteUndo({ device, path, trash, name: entry.name });
    else say(`${name} is in the trash. Restore it at the machine.`);
  } catch (error) {
    sayProblem(error);
  }
}

/** Puts back what was moved to the trash. Throws ApiError. */
export async function restore(device: string, trash: string, path: string): Promise<void> {
  await move(device, trash, path);
  forgetFolder(device, parentOf(path) ?? "/");
}

/** What people type is a name, not a path. Throws ApiError. */
export function checkName(name: string): void {
  if (name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name)) return;
  throw new ApiError(0, { detail: "That can't be a name.", hint: "A name has no slash, and is not . or .." });
}

function takenError(name: string): ApiError {
  return new ApiError(409, { detail: `${nameInText(name)} is already there.`, hint: "Choose another name." });
}
