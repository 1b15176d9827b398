/** The bindings of the Worker and its objects. */
import type { OidcEnv } from "./auth/oidc/issuers.ts";
import type { CloudEnv } from "./cloud/open-store.ts";
import type { ForwardEnv } from "./forwarding/hosts.ts";
import type { McpObjects } from "./mcp/listeners.ts";
import type { Account } from "./objects/account.ts";
import type { AnonymousRateLimit } from "./objects/anonymous-rate-limit.ts";
import type { Audit } from "./objects/audit.ts";
import type { Device } from "./objects/device.ts";
import type { Directory } from "./objects/directory.ts";
import type { OAuthStore } from "./objects/oauth-store.ts";
import type { Pairing } from "./objects/pairing.ts";
import type { Secrets } from "./secrets.ts";

export interface Env extends Secrets, CloudEnv, ForwardEnv, OidcEnv {
  DEVICE: DurableObjectNamespace<Device>;
  ACCOUNT: DurableObjectNamespace<Account>;
  AUDIT: DurableObjectNamespace<Audit>;
  MCP: McpObjects;
  PAIRING: DurableObjectNamespace<Pairing>;
  DIRECTORY: DurableObjectNamespace<Directory>;
  OAUTH_STORE: DurableObjectNamespace<OAuthStore>;
  ANONYMOUS_RATE_LIMIT: DurableObjectNamespace<AnonymousRateLimit>;
  /** The pages: static assets on Cloudflare, a disk service in the embedded relay. */
  ASSETS: Fetcher;
}
