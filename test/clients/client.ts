/** Uses the types that openapi-typescript made in `schema.d.ts`: RELAY TOKEN DEVICE FILE. Prints JSON. */
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const [relay = "", token = "", device = "", file = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: relay, headers: { Authorization: `Bearer ${token}` } });
const input = { file_path: file };

const listed = await client.GET("/v1/devices");
const call = (tool: string) =>
  client.POST("/v1/devices/{device}/tools/{tool}", {
    params: { path: { device, tool }, header: { "Matrx-Session": "new" } },
    body: input,
  });
const called = await call("Read");
const refused = await call("Raed");
const invoked = await client.POST("/v1/devices/{device}/tools/invoke", {
  params: { path: { device } },
  body: { tool: "Read", input },
});

/** Other answers are the name of a call that takes long, and a stream of events. */
const answerOf = (data: typeof called.data) =>
  typeof data === "object" && "type" in data ? [data.type, data.output] : data;

console.log(
  JSON.stringify({
    devices: listed.data?.devices.map(({ id }) => id),
    called: answerOf(called.data),
    invoked: answerOf(invoked.data),
    refused: [refused.error?.status, refused.error?.code, refused.error?.hop],
  }),
);
