/** A device's name can change; its id, grants and link stay. */
import { expect, it } from "vitest";
import { bearer, Person } from "../helpers/relay.ts";
import { ask } from "../helpers/request.ts";

const names = async (person: Person) => {
  const { devices } = await (await person.ask("/v1/devices")).json<{
    devices: { id: string; name: string }[];
  }>();
  return devices.map(({ name }) => name);
};

it("renames a device for every reader, and keeps its id", async () => {
  const person = await Person.signIn();
  const { id } = await person.bareDevice("old name");
  const { token } = await person.token({ access: "read", devices: [id] });
  const renamed = await person.rename(id, "  new name ");
  expect([renamed.status, await renamed.json()]).toMatchObject([200, { id, name: "new name" }]);
  expect(await names(person)).toEqual(["new name"]);
  const seen = await ask(`/v1/devices/${id}`, { headers: bearer(token) });
  expect(await seen.json()).toMatchObject({ id, name: "new name" });
});

it.each([[""], [" "], ["x".repeat(65)], [5]])("refuses the name %j", async (name) => {
  const person = await Person.signIn();
  const { id } = await person.bareDevice("kept");
  expect((await person.rename(id, name as string)).status).toBe(400);
  expect(await names(person)).toEqual(["kept"]);
});
