/** The device document's own tools (Backend to Client, 1. Tool Execute), since a bare device announces none. */
import { DEVICE_DOCUMENT_TOOLS, effectOf } from "./effects.ts";
import type { ToolDescription } from "./tool.ts";

const path = (description: string) => ({ type: "string", description });
const recursive = (description: string) => ({ type: "boolean", description });

const DOCUMENTED: Record<
  (typeof DEVICE_DOCUMENT_TOOLS)[number],
  { description: string; properties: Record<string, unknown>; required: string[] }
> = {
  create_directory: {
    description: "Create a directory on the device.",
    properties: { path: path("Directory to create") },
    required: ["path"],
  },
  delete_directory: {
    description: "Delete a directory of the device.",
    properties: { path: path("Directory to delete"), recursive: recursive("Also delete what is in it") },
    required: ["path"],
  },
  open_app: {
    description: "Open an application on the device.",
    properties: {
      app: { type: "string", description: "Name of the application" },
      args: { type: "array", items: { type: "string" }, description: "Arguments to start it with" },
    },
    required: ["app"],
  },
  search_files: {
    description: "Search files of the device by name.",
    properties: {
      query: { type: "string", description: "What to search for" },
      path: path("Directory to search in"),
      recursive: recursive("Also search subdirectories"),
    },
    required: ["query"],
  },
};

/** In the same shape as an announced manifest. */
export const DEVICE_DOCUMENT_DESCRIPTIONS: readonly ToolDescription[] = DEVICE_DOCUMENT_TOOLS.map((name) => {
  const { description, properties, required } = DOCUMENTED[name];
  return {
    name,
    description,
    effect: effectOf(name),
    input_schema: { type: "object", properties, required },
  };
});
