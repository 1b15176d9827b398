/** Whose turn it is where many want the same. */
import { FairMutex } from "@matrx/shared/mutex.ts";
import { expect, it } from "vitest";

it("the many of one caller hold up nobody else, and each caller's own keep their order", async () => {
  const mutex = new FairMutex();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const wait = (name: string, until: Promise<void> = Promise.resolve()) =>
    mutex.runExclusive(name.slice(0, 3), async () => {
      await until;
      done.push(name);
    });
  const many = [wait("ann1", first.promise), wait("ann2"), wait("ann3")];
  const others = [wait("ben1"), wait("cat1"), wait("ben2")];
  first.resolve();
  await Promise.all([...many, ...others]);
  expect(done.slice(0, 3)).toEqual(["ann1", "ben1", "cat1"]);
  expect(done.filter((name) => name.startsWith("ann"))).toEqual(["ann1", "ann2", "ann3"]);
});

it("one that fails lets the next go on", async () => {
  const mutex = new FairMutex();
  const failing = mutex.runExclusive("ann", () => Promise.reject(new Error("no")));
  const next = mutex.runExclusive("ann", async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});
