# A bare object for each idle device, under the same date and flags as ours.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "home", worker = .home),
    (name = "objects", disk = (writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "home")],
);

const home :Workerd.Worker = (
  modules = [(name = "raw.js", esModule = embed "raw.js")],
  compatibilityDate = "2026-10-27",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2", "no_web_socket_compression"],
  bindings = [(name = "HOME", durableObjectNamespace = "RawHome")],
  durableObjectNamespaces = [(className = "RawHome", uniqueKey = "bench-RawHome", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
);
