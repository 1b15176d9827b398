#!/usr/bin/env node
/** Starts the command line with a Node that can run it. Plain JavaScript that an older Node parses too. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const here = dirname(fileURLToPath(import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NEEDED) await start();
else restart(bundledNode());

/** The published package carries one bundled file, the repository its sources. */
async function start() {
  const bundle = new URL("../dist/matrx.js", import.meta.url);
  const isBundled = existsSync(bundle);
  // Halves the time that the sources take to start, and saves the bundle a third. What is kept there is run, so it lies where
  // the program itself does; where that is closed to this user, nothing is kept.
  module.enableCompileCache(join(here, isBundled ? "../.compiled" : "../../node_modules/.cache/compiled"));
  await import(isBundled ? bundle.href : "../cli/main.ts");
}

/** The Node that came as a dependency, in a node_modules folder of this one or above. */
function bundledNode() {
  const arch = process.platform === "darwin" && process.arch === "arm64" ? "bin-darwin-arm64" : undefined;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const file = process.platform === "win32" ? "node.exe" : "node";
  const name = `node-${arch ?? `${platform}-${process.arch}`}`;
  for (let folder = here; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name, "bin", file);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}

/** @param {string | undefined} node */
function restart(node) {
  if (node === undefined) {
    console.error(`matrx needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.`);
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`${node} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(name);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}
