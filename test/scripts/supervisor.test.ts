import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Child, End } from "../../scripts/start/process.ts";
import { type Listeners, Supervisor } from "../../scripts/start/supervisor.ts";

/** A child that dies when it is told to. */
function makeChild(pid: number) {
  const ended = Promise.withResolvers<End>();
  const die = (code: number | null = 1) => ended.resolve({ code, how: `ended with code ${code}` });
  const child: Child = {
    pid,
    ended: ended.promise,
    stop: async () => die(null),
    kill: async () => die(null),
  };
  return { child, die };
}

/** A supervisor under a clock of the test's. */
function supervised(listeners: Listeners, start: (n: number) => Child | Error) {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let starts = 0;
  const supervisor = new Supervisor(async () => {
    const started = start(++starts);
    if (started instanceof Error) throw started;
    return started;
  }, listeners);
  onTestFinished(() => supervisor.stop(0));
  return { supervisor, starts: () => starts };
}

test("a start that fails is tried again and again, with pauses that double", async () => {
  const pauses: number[] = [];
  const heard = Promise.withResolvers<void>();
  const { supervisor } = supervised(
    {
      onDeath: (how, pause) => {
        expect(how).toBe("could not be started (no room)");
        if (pauses.push(pause) === 3) heard.resolve();
      },
      describe: () => "could not be started (no room)",
    },
    (n) => {
      if (n > 1) return new Error("no room");
      const { child, die } = makeChild(n);
      die();
      return child;
    },
  );
  await supervisor.begin();
  await heard.promise;
  expect(pauses).toEqual([200, 400, 800]);
});

test("a child that stayed up is started again at once", async () => {
  const pauses: number[] = [];
  const children: ReturnType<typeof makeChild>[] = [];
  const { supervisor, starts } = supervised({ onDeath: (_, pause) => pauses.push(pause) }, (n) => {
    children[n] = makeChild(n);
    return children[n].child;
  });
  await supervisor.begin();
  children[1]?.die();
  await expect.poll(starts).toBe(2);
  children[2]?.die();
  await expect.poll(starts).toBe(3);
  vi.advanceTimersByTime(10_001);
  children[3]?.die();
  await expect.poll(starts).toBe(4);
  expect(pauses).toEqual([200, 400, 200]);
});

test("what a listener throws ends nothing", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => said.mockRestore());
  const fail = () => {
    throw new Error("the disk is full");
  };
  const children: ReturnType<typeof makeChild>[] = [];
  const { supervisor, starts } = supervised({ onStart: fail, onDeath: fail, describe: fail }, (n) => {
    children[n] = makeChild(n);
    return children[n].child;
  });
  await supervisor.begin();
  children[1]?.die();
  await expect.poll(starts).toBe(2);
  expect(supervisor.child?.pid).toBe(2);
  expect(said).toHaveBeenCalledWith("the disk is full");
});

test("an end that is final is told, and nothing is started again", async () => {
  const { child, die } = makeChild(1);
  const { supervisor, starts } = supervised({ isFinal: ({ code }) => code === 0 }, () => child);
  await supervisor.begin();
  die(0);
  expect(await supervisor.gaveUp).toMatchObject({ code: 0 });
  expect(starts()).toBe(1);
});

test("stopping does not wait for a pause", async () => {
  const dead = Promise.withResolvers<void>();
  const { child, die } = makeChild(1);
  const { supervisor, starts } = supervised({ onDeath: () => dead.resolve() }, () => child);
  await supervisor.begin();
  die();
  await dead.promise;
  await supervisor.stop(0);
  await sleep(300);
  expect(starts()).toBe(1);
});
