# The relay embedded: `workerd serve` on the Worker that `npm run build` bundled, with its data on this machine's disk.
# scripts/start/workerd.ts gives the port, the folders `objects`, `web` and `cloud`, and the secrets by environment.
using Workerd = import "/workerd/workerd.capnp";

# `localhost` may resolve to either address: another program on the one left free would be taken for the relay.
const config :Workerd.Config = (
  services = .services,
  sockets = [
    (name = "127.0.0.1", address = "127.0.0.1:8787", http = (), service = "relay"),
    (name = "::1", address = "[::1]:8787", http = (), service = "relay"),
  ],
);

# For a machine without IPv6.
const ipv4 :Workerd.Config = (
  services = .services,
  sockets = [(name = "127.0.0.1", address = "127.0.0.1:8787", http = (), service = "relay")],
);

const services :List(Workerd.Service) = [
  (name = "relay", worker = .relay),
  (name = "objects", disk = (path = ".matrx/objects", writable = true)),
  (name = "web", disk = (path = "dist/web")),
  (name = "cloud", disk = (path = ".matrx/cloud", writable = true)),
  # For issuers of sign-ins, and for what AI clients publish of themselves. Nothing of the local network can be fetched through the first; the second is only for
  # issuers that the owner has configured as local.
  (name = "internet", network = (allow = ["public"], tlsOptions = (trustBrowserCas = true))),
  (name = "local-network", network = (allow = ["private"], tlsOptions = (trustBrowserCas = true))),
];

const relay :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "dist/worker/index.js")],
  compatibilityDate = "2026-10-27",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2", "no_web_socket_compression", "global_fetch_strictly_public"],
  bindings = [
    (name = "DEVICE", durableObjectNamespace = "Device"),
    (name = "ACCOUNT", durableObjectNamespace = "Account"),
    (name = "AUDIT", durableObjectNamespace = "Audit"),
    (name = "PAIRING", durableObjectNamespace = "Pairing"),
    (name = "MCP", durableObjectNamespace = "Mcp"),
    (name = "DIRECTORY", durableObjectNamespace = "Directory"),
    (name = "OAUTH_STORE", durableObjectNamespace = "OAuthStore"),
    (name = "ANONYMOUS_RATE_LIMIT", durableObjectNamespace = "AnonymousRateLimit"),
    (name = "ASSETS", service = "web"),
    (name = "CLOUD_DISK", service = "cloud"),
    (name = "LOCAL_NETWORK", service = "local-network"),
    (name = "EMBEDDED", text = "1"),
    (name = "RELAY_KEYS", fromEnvironment = "RELAY_KEYS"),
    (name = "CLAIM_SECRET", fromEnvironment = "CLAIM_SECRET"),
    (name = "OIDC_ISSUERS", fromEnvironment = "OIDC_ISSUERS"),
    (name = "HOSTS", fromEnvironment = "HOSTS"),
    (name = "MATRX_URL", fromEnvironment = "MATRX_URL"),
    (name = "FORWARD_DOMAIN", fromEnvironment = "FORWARD_DOMAIN"),
  ],
  # The unique keys are where the data lies: a renamed one starts empty.
  durableObjectNamespaces = [
    (className = "Device", uniqueKey = "relay-Device", enableSql = true),
    (className = "Account", uniqueKey = "relay-Account", enableSql = true),
    (className = "Audit", uniqueKey = "relay-Audit", enableSql = true),
    (className = "Pairing", uniqueKey = "relay-Pairing", enableSql = true),
    (className = "Mcp", uniqueKey = "relay-Mcp", enableSql = true),
    (className = "Directory", uniqueKey = "relay-Directory", enableSql = true),
    (className = "OAuthStore", uniqueKey = "relay-OAuthStore", enableSql = true),
    (className = "AnonymousRateLimit", uniqueKey = "relay-AnonymousRateLimit", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "objects"),
);
