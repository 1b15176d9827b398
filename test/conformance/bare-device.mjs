// A device written from the device WebSocket document alone: it registers, beats, runs two tools in one
// directory and reports events. As a program: node bare-device.mjs <ws url> <device id> <token> <directory>.
import { EventEmitter } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join, relative, resolve } from "node:path";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { WebSocket } from "ws";

const HEARTBEAT_MS = 30_000;
const RECONNECT_MS = 500;

class ToolFailure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

function inside(root, path) {
  if (typeof path !== "string" || path === "") {
    throw new ToolFailure("INVALID_PARAMETERS", "path must be a string");
  }
  const full = resolve(root, path);
  if (relative(root, full).startsWith("..")) {
    throw new ToolFailure("PERMISSION_DENIED", `Access to ${path} is not allowed`);
  }
  return full;
}

const TOOLS = {
  async create_directory(root, { path }) {
    const created_path = inside(root, path);
    await mkdir(created_path, { recursive: true });
    return { created_path, message: "Directory created successfully" };
  },

  async search_files(root, { query, path = ".", recursive = false }) {
    if (typeof query !== "string") throw new ToolFailure("INVALID_PARAMETERS", "query must be a string");
    const directory = inside(root, path);
    const entries = await readdir(directory, { recursive, withFileTypes: true });
    const found = entries.filter((entry) => entry.name.includes(query));
    return { matches: found.map((entry) => join(entry.parentPath, entry.name)).sort() };
  },
};

/** Emits `state`, every received message under its type, and `message` for all of them. */
export class BareDevice extends EventEmitter {
  state = "DISCONNECTED";
  received = [];
  #timers = new Set();
  #stopped = false;

  constructor({ url, deviceId, token, root, heartbeatMs = HEARTBEAT_MS, reconnect = true, tools = {} }) {
    super();
    Object.assign(this, { url, deviceId, token, root, heartbeatMs, reconnect });
    this.tools = { ...TOOLS, ...tools };
  }

  #become(state) {
    this.state = state;
    this.emit("state", state);
  }

  connect() {
    this.#become(this.received.length > 0 ? "RECONNECTING" : "CONNECTING");
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.on("open", () => {
      this.#become("CONNECTED");
      this.#become("REGISTERING");
      this.send("device_register", {
        hostname: hostname(),
        os: process.platform,
        os_version: process.version,
        capabilities: { file_operations: true, app_control: false, voice: false, homelab: false },
        metadata: { cpu: "any", ram_gb: 1, disk_gb: 1 },
        auth_token: `Bearer ${this.token}`,
      });
    });
    socket.on("message", (data) => void this.#receive(JSON.parse(String(data))));
    socket.on("error", (error) => this.emit("fault", error));
    socket.on("close", (code, reason) => {
      this.#clearTimers();
      this.#become("DISCONNECTED");
      this.emit("closed", code, String(reason));
      if (this.reconnect && !this.#stopped) this.#later(() => this.connect(), RECONNECT_MS);
    });
    return this;
  }

  send(type, fields) {
    this.socket.send(JSON.stringify({ type, device_id: this.deviceId, ...fields }));
  }

  heartbeat() {
    this.send("device_heartbeat", { timestamp: new Date().toISOString() });
  }

  event(event_type, severity, data) {
    this.send("event", { event_type, severity, data, timestamp: new Date().toISOString() });
  }

  query(query) {
    this.send("user_query", { query, timestamp: new Date().toISOString() });
  }

  #later(work, ms) {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }

  #clearTimers() {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #beat() {
    this.#later(() => {
      if (this.socket.readyState === WebSocket.OPEN) this.heartbeat();
      this.#beat();
    }, this.heartbeatMs);
  }

  async #receive(message) {
    this.received.push(message);
    if (message.type === "device_registered") {
      this.permissions = message.permissions;
      this.#become("REGISTERED");
      this.#beat();
    }
    this.emit("message", message);
    if (message.type === "tool_execute") await this.#execute(message);
    if (message.type === "system_command") this.#obey(message);
  }

  #obey({ command, permissions }) {
    if (command === "shutdown") this.close();
    if (command === "update_permissions" && permissions) this.permissions = permissions;
  }

  async #execute({ tool_call_id, tool, parameters, timeout_sec }) {
    const outcome = await this.#attempt(tool, parameters ?? {}, timeout_sec);
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.send("tool_result", { tool_call_id, ...outcome, executed_at: new Date().toISOString() });
  }

  async #attempt(tool, parameters, timeoutSec = 30) {
    let timer;
    try {
      if (!Object.hasOwn(this.tools, tool)) throw new ToolFailure("TOOL_NOT_FOUND", `Unknown tool: ${tool}`);
      const late = new Promise((_resolve, reject) => {
        timer = setTimeout(
          () => reject(new ToolFailure("TIMEOUT", "Operation timed out")),
          timeoutSec * 1000,
        );
      });
      const result = await Promise.race([this.tools[tool](this.root, parameters), late]);
      return { success: true, result };
    } catch (error) {
      const code = error instanceof ToolFailure ? error.code : "TOOL_EXECUTION_FAILED";
      return {
        success: false,
        error: { code, message: error instanceof Error ? error.message : String(error) },
      };
    } finally {
      clearTimeout(timer);
    }
  }

  close() {
    this.#stopped = true;
    this.#clearTimers();
    this.socket?.close();
  }

  /** Goes away without a word, as a machine that loses power. */
  vanish() {
    this.#stopped = true;
    this.#clearTimers();
    this.socket?.terminate();
  }
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const [url, deviceId, token, root] = argv.slice(2);
  const device = new BareDevice({ url, deviceId, token, root });
  device.on("state", (state) => console.log(JSON.stringify({ state })));
  device.on("message", (message) => console.log(JSON.stringify(message)));
  device.on("fault", (error) => console.error(error.message));
  device.connect();
}
