/** The bindings of the Worker and its objects. */

import type { Account } from "./account/account.ts";
import type { AddressEnv } from "./auth/address.ts";
import type { OidcEnv } from "./auth/oidc/issuers.ts";
import type { CloudEnv } from "./cloud/open-store.ts";
import type { Device } from "./device/device.ts";
import type { McpObjects } from "./mcp/listeners.ts";
import type { AnonymousRateLimit } from "./objects/anonymous-rate-limit.ts";
import type { Audit } from "./objects/audit.ts";
import type { Directory } from "./objects/directory.ts";
import type { OAuthStore } from "./objects/oauth-store.ts";
import type { Pairing } from "./objects/pairing.ts";
import type { Secrets } from "./secrets.ts";

export interface ForwardEnv extends AddressEnv {
  /** The domain of these hosts, such as `forward.example`, without a scheme. */
  FORWARD_DOMAIN?: string | null;
  /** Set in the embedded relay. */
  EMBEDDED?: string;
}

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
