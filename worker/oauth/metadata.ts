/** What clients read before they sign in. */
import type { protectedResourceSchema } from "@matrx/shared/oauth-api.ts";
import type * as z from "zod";
import { MCP_PATH, MCP_SCOPE, resourceOfPath } from "./resource.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** RFC 9728, for the resource that an address below `/.well-known/oauth-protected-resource` names; undefined: there is none. */
export function protectedResource(
  origin: string,
  path: string,
): z.infer<typeof protectedResourceSchema> | undefined {
  const resource = resourceOfPath(origin, path.slice(WELL_KNOWN.length) || MCP_PATH);
  if (resource === undefined) return undefined;
  return {
    resource,
    authorization_servers: [origin],
    scopes_supported: [MCP_SCOPE],
    bearer_methods_supported: ["header"],
    resource_name: "Matrx Relay",
  };
}

/** RFC 8414: the library's, and that clients may describe themselves, which the relay does by its own means. */
export async function withDocuments(metadata: Response): Promise<Response> {
  const told = await metadata.json<Record<string, unknown>>();
  return Response.json({ ...told, client_id_metadata_document_supported: true });
}
