/** Where programs keep in the sandbox what they can fetch or make again. */
import { mayWrite, type SandboxRules, SCRATCH } from "./rules.ts";

/** Variables that name such places, and where these are in a home otherwise. */
const CACHES = {
  XDG_CACHE_HOME: ".cache",
  npm_config_cache: ".npm",
};

/** A command that may not write where its home has a cache has one of its own, and is not stopped for want of it. */
export function cacheEnvironment(rules: SandboxRules): Record<string, string> {
  const { home } = rules;
  if (home === undefined) return {};
  const missing = Object.entries(CACHES).filter(([, name]) => !mayWrite(rules, `${home}/${name}`));
  return Object.fromEntries(missing.map(([variable, name]) => [variable, `${SCRATCH}/${name}`]));
}
