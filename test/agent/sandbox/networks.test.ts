import { describe, expect, it } from "vitest";
import { Networks } from "../../../agent/sandbox/networks.ts";

/** Stands for a network; a real one is in network.process.test.ts. */
function fakeNetwork(isUsed: boolean) {
  const network = {
    ...{ enter: [], hasProxy: false, isClosed: false },
    isUsed: () => isUsed,
    close: async () => {
      network.isClosed = true;
    },
  };
  return network;
}

describe("networks that commands share", () => {
  it("are made once for each name, also when two ask at the same time", async () => {
    const networks = new Networks();
    let made = 0;
    const make = async () => {
      made += 1;
      return fakeNetwork(false);
    };
    const [one, same] = await Promise.all([networks.of("a", make), networks.of("a", make)]);
    expect(same).toBe(one);
    expect(await networks.of("b", make)).not.toBe(one);
    expect(made).toBe(2);
  });

  it("are given up beyond the most, the longest unused first, but for those in which something runs", async () => {
    const networks = new Networks(2);
    const [used, idle, later, last] = [true, false, false, false].map(fakeNetwork);
    await networks.of("used", async () => used);
    await networks.of("idle", async () => idle);
    await networks.of("later", async () => later);
    expect([used, idle, later].map((network) => network?.isClosed)).toEqual([false, true, false]);
    await networks.of("last", async () => last);
    expect([used, later, last].map((network) => network?.isClosed)).toEqual([false, true, false]);
    await networks.close();
    expect([used, last].map((network) => network?.isClosed)).toEqual([true, true]);
  });

  it("are asked for again after one could not be made", async () => {
    const networks = new Networks();
    const network = fakeNetwork(false);
    await expect(networks.of("a", () => Promise.reject(new Error("no memory")))).rejects.toThrow("no memory");
    expect(await networks.of("a", async () => network)).toBe(network);
  });
});
