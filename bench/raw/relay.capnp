# The relay without checks, under the same date and flags as ours.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "relay", worker = .relay),
    (name = "objects", disk = (writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "relay")],
);

const relay :Workerd.Worker = (
  modules = [(name = "relay.js", esModule = embed "relay.js")],
  compatibilityDate = "2026-10-27",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2", "no_web_socket_compression"],
  bindings = [(name = "RELAY", durableObjectNamespace = "RawRelay")],
  durableObjectNamespaces = [(className = "RawRelay", uniqueKey = "bench-RawRelay", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
);
