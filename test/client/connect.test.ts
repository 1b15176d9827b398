/** What is wrong at the caller's end is said so, by each connection, and nothing is asked of the network. */
import { describe, expect, it } from "vitest";
import { connectByHttp, connectDevice, type DeviceAt } from "../../client/connect.ts";

const AT: DeviceAt = { url: "https://relay.invalid", device: "laptop-4k7m2x9qpa" };
const fetch = () => Promise.reject(new Error("the network was asked"));

describe.for([
  ["a WebSocket", connectDevice],
  ["HTTP", connectByHttp],
] as const)("over %s", ([, connect]) => {
  it.for(["", "two\nlines", "tökén"])("a token that can't be one is refused: %j", async (token) => {
    const machine = connect({ ...AT, fetch, token });
    await expect(machine.call("Bash", { command: "make" })).rejects.toMatchObject({
      ...{ code: "UNAUTHENTICATED", hop: "caller" },
    });
  });

  it("what the token's function throws comes as it is, and the call is not tried again", async () => {
    const gone = new Error("no such file");
    let asked = 0;
    const token = () => {
      asked += 1;
      throw gone;
    };
    const machine = connect({ ...AT, fetch, token });
    await expect(machine.call("Bash", { command: "make" })).rejects.toBe(gone);
    expect(asked).toBe(1);
  });
});

it.for([connectDevice, connectByHttp])(
  "an empty id is refused, and takes no relay for a local server",
  (connect) => {
    expect(() => connect({ ...AT, device: "" })).toThrow("The device's id is empty");
  },
);

it("an input that is no JSON is the program's error, not one of the network", async () => {
  const machine = connectByHttp({ ...AT, fetch, token: "token" });
  await expect(machine.call("Bash", { command: "make", timeout: 1n })).rejects.toThrow(TypeError);
});
