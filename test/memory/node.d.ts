/** What these tests need of Node: its own types clash with those of the Workers runtime. */
declare module "node:v8" {
  export function setFlagsFromString(flags: string): void;
}

declare module "node:vm" {
  export function runInNewContext(code: string): unknown;
}
