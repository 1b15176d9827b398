/** Sessions that a model names itself. */
import { hexOf, isSessionId, type SessionId } from "../ids.ts";

/** The session that a name stands for. Sessions belong to a grant, so the same name of another caller is another one. */
export async function sessionNamed(name: string): Promise<SessionId> {
  if (isSessionId(name)) return name;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`mcp ${name}`));
  return hexOf(new Uint8Array(digest, 0, 8)) as SessionId;
}
