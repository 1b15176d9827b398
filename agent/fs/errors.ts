/** File system errors, worded for users. */
import { MatrxError } from "@matrx/shared/errors.ts";
import { toolName } from "../text/tool-names.ts";

/** Turns a file system error into a MatrxError; a MatrxError and any other error pass unchanged. */
export function fileError(error: unknown, path: string, doing: string): unknown {
  if (error instanceof MatrxError || !isSystemError(error)) return error;
  const { code } = error;
  const details = { path, system_code: code };
  const make = (shape: Pick<MatrxError, "code" | "message"> & { hint: string }) =>
    new MatrxError({ ...shape, hop: "tool", details }, error);
  switch (code) {
    case "ENOENT":
      return make({
        code: "NOT_FOUND",
        message: `${path} does not exist`,
        hint: `Look with ${toolName("ListDirectory")}`,
      });
    case "EACCES":
    case "EPERM":
      return make({
        code: "PERMISSION_DENIED",
        message: `The system does not let the agent ${doing} ${path}`,
        hint: permissionHint(),
      });
    case "EROFS":
      return make({
        code: "PERMISSION_DENIED",
        message: `Cannot ${doing} ${path}: the file system is read-only`,
        hint: "Choose another folder",
      });
    case "ENOTDIR":
      return make({
        code: "TOOL_EXECUTION_FAILED",
        message: `Cannot ${doing} ${path}: a part of the path is a file, not a folder`,
        hint: `Look with ${toolName("ListDirectory")}`,
      });
    case "EISDIR":
      return make({
        code: "TOOL_EXECUTION_FAILED",
        message: `${path} is a folder`,
        hint: `Use ${toolName("ListDirectory")}, or name a file in it`,
      });
    case "ELOOP":
      return make({
        code: "TOOL_EXECUTION_FAILED",
        message: `Cannot ${doing} ${path}: its links form a loop`,
        hint: "Name the file itself",
      });
    case "ENAMETOOLONG":
      return make({
        code: "INVALID_PARAMETERS",
        message: "The path, or a name in it, is too long for the system",
        hint: "Use a shorter one",
      });
    case "ENOSPC":
    case "EDQUOT":
      return make({
        code: "TOOL_EXECUTION_FAILED",
        message: `Cannot ${doing} ${path}: there is no space left`,
        hint: "Free some space, then try again",
      });
    case "EAGAIN":
    case "EWOULDBLOCK":
      return make({
        code: "TOOL_EXECUTION_FAILED",
        message: `Cannot ${doing} ${path}: it has nothing to read without waiting`,
        hint: `It is not an ordinary file; use ${toolName("Bash")} with a timeout`,
      });
    default:
      return make({
        code: "TOOL_EXECUTION_FAILED",
        message: `Cannot ${doing} ${path}: ${code}`,
        hint: `The system refused; try it with ${toolName("Bash")} to see more`,
      });
  }
}

/** Runs a file operation; file system errors are thrown as MatrxError. */
export async function explained<T>(path: string, doing: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw fileError(error, path, doing);
  }
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}

/** The system's code, such as `EACCES`, also of an error made by `fileError`. */
export function systemCodeOf(error: unknown): string | undefined {
  if (isSystemError(error)) return error.code;
  const code = error instanceof MatrxError ? error.details?.system_code : undefined;
  return typeof code === "string" ? code : undefined;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return isSystemError(error) && codes.includes(error.code);
}

function permissionHint(): string {
  if (process.platform === "darwin") {
    return "The agent's user does not have this permission; for Desktop, Documents and Downloads it needs Full Disk Access";
  }
  return "The agent's user does not have this permission; the file's owner can grant it";
}
