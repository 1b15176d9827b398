# Our relay as in /relay.capnp, under the door of relay.js.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "relay", worker = .relay),
    (name = "objects", disk = (writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "relay")],
);

const relay :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "relay.js"),
    (name = "ours.js", esModule = embed "../../dist/worker/index.js"),
  ],
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
    (name = "EMBEDDED", text = "1"),
    (name = "RELAY_KEYS", fromEnvironment = "RELAY_KEYS"),
    (name = "CLAIM_SECRET", fromEnvironment = "CLAIM_SECRET"),
    (name = "HOSTS", fromEnvironment = "HOSTS"),
  ],
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
