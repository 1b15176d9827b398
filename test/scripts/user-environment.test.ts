import { expect, test } from "vitest";
import { userEnvironment } from "../../scripts/start/user-environment.ts";

test("the agent gets the person's environment, not npm's, and none of the relay's secrets", () => {
  const env = {
    PATH: "/clone/node_modules/.bin:/node_modules/.bin:/lib/node-gyp-bin:/usr/local/bin:/usr/bin",
    HOME: "/home/ann",
    LANG: "de_DE.UTF-8",
    npm_config_cache: "/x",
    npm_lifecycle_event: "start",
    INIT_CWD: "/clone",
    NODE: "/usr/bin/node",
    MATRX_DATA: "/data",
    RELAY_KEYS: "secret",
    CLAIM_SECRET: "secret",
  };
  expect(userEnvironment(env)).toEqual({
    PATH: "/usr/local/bin:/usr/bin",
    HOME: "/home/ann",
    LANG: "de_DE.UTF-8",
  });
});
