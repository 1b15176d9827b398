// Brings node_modules up to package-lock.json before `npm start` and `npm test`. Runs on the machine's own Node (20 or
// newer) and without any package, because it is the first thing that runs in a fresh clone.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname ?? ".", "..");
const modules = join(root, "node_modules");
const lock = join(root, ".installing");
/** Longer takes no install, in milliseconds: such a lock was left behind, and its process id is another program's. */
const LOCK_HOLDS = 15 * 60_000;
const withDevelopment =
  !/\bdev\b/.test(process.env.npm_config_omit ?? "") && process.env.NODE_ENV !== "production";

if (isIncomplete() || existsSync(lock)) await installAlone();
if (!hasNode24()) {
  fail(
    `The packages include no Node 24 for ${process.platform}-${process.arch}: install Node 24 on this machine and try again.`,
  );
}

/** Tells whether a package of the lock file is missing, in another version, or without its files. */
function isIncomplete() {
  const wanted = readPackages(join(root, "package-lock.json"));
  if (!wanted)
    fail("package-lock.json is missing or damaged: restore it with `git checkout package-lock.json`.");
  // npm writes this list as the last step of an install, so an interrupted one has none.
  const installed = readPackages(join(modules, ".package-lock.json"));
  if (!installed) return true;
  return (
    Object.entries(wanted).some(
      ([path, { version, optional, dev }]) =>
        path.startsWith("node_modules/") &&
        !optional &&
        !(dev && !withDevelopment) &&
        (installed[path]?.version !== version || !existsSync(join(root, path, "package.json"))),
    ) || !hasNode24()
  );
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function hasNode24() {
  const linked = process.platform === "win32" ? ".bin/node.cmd" : ".bin/node";
  return existsSync(join(modules, linked)) || Number.parseInt(process.versions.node, 10) >= 24;
}

/** Two at once would pull the files from under each other: the second waits for the first, and then mostly has all. */
async function installAlone() {
  for (let waits = 0; !takeLock(); waits++) {
    if (waits === 0) say("Another process installs the packages in this folder: waiting for it ...");
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  process.on("exit", () => rmSync(lock, { force: true }));
  if (isIncomplete()) await install();
}

function takeLock() {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    // A folder that is not writable is npm's to tell.
    if (error.code !== "EEXIST") return true;
  }
  if (!isHeld()) rmSync(lock, { force: true });
  return false;
}

function isHeld() {
  try {
    if (Date.now() - statSync(lock).mtimeMs > LOCK_HOLDS) return false;
    const pid = Number(readFileSync(lock, "utf8"));
    // Empty: its writer has just made it.
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function install() {
  const began = Date.now();
  say("Installing packages (once; it takes 10 seconds to a few minutes) ...");
  const { code, signal, stderr } = await npmCi(() => say(`  still installing, ${seconds(began)} s so far`));
  if (signal) process.exit(signal === "SIGINT" ? 130 : 143);
  if (code !== 0) fail(`${reasonOf(stderr)}\n\nWhat npm said:\n${withoutStack(stderr)}`);
  say(`Packages installed in ${seconds(began)} s.`);
}

function npmCi(tick) {
  // npm_node_execpath is the Node that npm itself runs on; the one running this may lie in the node_modules to replace.
  const npm = process.env.npm_execpath;
  const args = ["ci", "--prefer-offline", "--loglevel=error", "--no-progress"];
  const options = { cwd: root, stdio: ["ignore", "ignore", "pipe"] };
  const child = npm?.endsWith(".js")
    ? spawn(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], options)
    : spawn("npm", args, { ...options, shell: process.platform === "win32" });
  const timer = setInterval(tick, 10_000);
  let interrupted;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => {
      if (!interrupted) say("\nStopping the installation (npm takes some seconds to clean up) ...");
      interrupted = name;
      child.kill(name);
    });
  }
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr = (stderr + text).slice(-100_000);
  });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: 1, stderr: `npm cannot be started: ${error.message}` }));
    child.on("close", (code, signal) => {
      clearInterval(timer);
      resolve({ code, signal: interrupted ?? signal, stderr });
    });
  });
}

function reasonOf(stderr) {
  if (/\b(EACCES|EPERM|EROFS)\b/.test(stderr)) {
    // npm keeps its cache in the home folder, which may be the one that is closed.
    const path = stderr.match(/^npm (?:error|ERR!) path (.+)$/m)?.[1];
    if (path && !path.startsWith(root)) {
      return `The packages cannot be installed: npm cannot write ${path}. Correct that folder's owner, or choose another cache folder: npm_config_cache=/tmp/npm npm start`;
    }
    return `The packages cannot be installed: ${root} is not writable for you. Clone the repository into your own folder, or correct its owner.`;
  }
  if (/\bENOSPC\b/.test(stderr)) {
    return "The packages cannot be installed: the disk is full. They need about 1 GB, and npm's cache another 350 MB.";
  }
  if (
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network)\b/.test(
      stderr,
    )
  ) {
    return "The packages cannot be installed: the npm registry can't be reached. Check the connection (or npm's proxy setting) and try again.";
  }
  if (/\bEUSAGE\b/.test(stderr)) {
    return "The packages cannot be installed: package.json and package-lock.json do not agree. Run `npm install` once and try again.";
  }
  return "The packages cannot be installed.";
}

/** npm's own words, which come before the stack of its error. */
function withoutStack(stderr) {
  const lines = stderr.trim().split("\n");
  return lines
    .filter((line) => !/^npm (error|ERR!)\s+at /.test(line))
    .slice(0, 8)
    .join("\n");
}

function seconds(since) {
  return Math.round((Date.now() - since) / 1000);
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function fail(sentence) {
  say(`\n${sentence}`);
  process.exit(1);
}
