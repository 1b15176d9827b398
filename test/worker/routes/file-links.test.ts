/** How long a link to a file lasts. What it opens is tried with a real agent: test/e2e/file-links.test.ts. */
import type { DeviceId } from "@matrx/shared/ids.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { hashOf } from "../../../worker/auth/token-hash.ts";
import { unwrap } from "../../../worker/outcome.ts";
import { accountOf } from "../helpers/cloud.ts";
import { home } from "../helpers/home.ts";
import { ask } from "../helpers/request.ts";

const HOUR = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterEach(() => vi.useRealTimers());

it("a link works for its hours, and is no grant afterwards", async () => {
  const { person, identity } = await home();
  const { accounts, grant } = accountOf(person);
  const secret = "a".repeat(26);
  const wish = { path: "/home/ann/report.pdf", hours: 2 };
  const link = unwrap(
    await accounts.createFileLink(grant, identity.id as DeviceId, wish, await hashOf(secret)),
  );
  expect(link.expires).toBe(Date.now() + 2 * HOUR);
  const open = () => ask(`/f/${person.account}.${link.id}.${secret}/report.pdf`);
  vi.setSystemTime(link.expires - 1);
  // The device has no such file, or no such tool: the link itself is good.
  expect((await open()).status).not.toBe(401);
  vi.setSystemTime(link.expires);
  expect((await open()).status).toBe(401);
  const listed = await (await person.ask("/v1/tokens")).text();
  expect(listed).not.toContain(link.id);
});
