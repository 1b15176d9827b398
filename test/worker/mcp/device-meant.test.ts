/** The device that a call to all devices names. */
import { expect, it } from "vitest";
import { deviceMeant } from "../../../worker/mcp-account/device-meant.ts";

const box = (id: string, name = "box") => ({ id, name });
const DEVICES = [box("box-1"), box("box-2"), box("den-3", "den")];

it("is the one of that name", () => {
  expect(deviceMeant("den", DEVICES)).toBe("den-3");
});

it.each([
  ["box", '"box" is the name of 2 devices', ["box-1", "box-2"]],
  ["attic", '"attic" is not the name of one of them', ["box-1", "box-2", "den-3"]],
  [undefined, "is required", ["box-1", "box-2", "den-3"]],
])("is asked for where %j does not tell, among those that it may be", (named, why, choices) => {
  expect(() => deviceMeant(named, DEVICES)).toThrow(
    expect.objectContaining({
      ...{ code: "INVALID_PARAMETERS", message: `device: ${why}` },
      details: expect.objectContaining({ choices: choices.map((id) => expect.objectContaining({ id })) }),
    }),
  );
});

it("is none where none is reached", () => {
  expect(() => deviceMeant("box", [])).toThrow("you reach no device");
});
