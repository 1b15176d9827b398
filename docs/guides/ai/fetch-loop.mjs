/** A model works on your machine: any chat API of OpenAI's kind, no library. `fetch-loop.mjs DEVICE "the task"` */
import { readFileSync } from "node:fs";
import { openDevice } from "./device.mjs";

const { MATRX_RELAY, MATRX_TOKEN_FILE, OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL } = process.env;
const [device, task] = process.argv.slice(2);
const TURNS = 30;

const token = readFileSync(MATRX_TOKEN_FILE, "utf8").trim().split(" ").at(-1);
const { tools, prompt, call } = await openDevice({ relay: MATRX_RELAY, device, token, format: "openai" });
const messages = [
  { role: "system", content: prompt },
  { role: "user", content: task },
];

/** The model's next message. */
async function ask() {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${OPENAI_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: OPENAI_MODEL, messages, tools }),
  });
  if (!response.ok) throw new Error(`The model's API: ${response.status} ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

/** Runs what the model asked for in one turn, all at once, and tells it the results in its order. */
async function run(toolCalls) {
  const results = await Promise.all(
    toolCalls.map(({ function: { name, arguments: input } }) => call(name, input)),
  );
  for (const [index, { text }] of results.entries())
    messages.push({ role: "tool", tool_call_id: toolCalls[index].id, content: text });
  // This API takes no images in results of tools: they follow as the user's.
  const images = results.map(({ image }) => image).filter((image) => image);
  if (images.length === 0) return;
  const parts = images.map(({ media_type, base64_data }) => ({
    type: "image_url",
    image_url: { url: `data:${media_type};base64,${base64_data}` },
  }));
  messages.push({ role: "user", content: [{ type: "text", text: "Images from the tools:" }, ...parts] });
}

let message = await ask();
for (let turn = 1; message.tool_calls?.length; turn++) {
  if (turn > TURNS) throw new Error(`The model was not done after ${TURNS} turns`);
  messages.push(message);
  await run(message.tool_calls);
  message = await ask();
}
console.log(message.content);
