/** Lets a model work on your machine: any OpenAI-compatible chat API, no library. `fetch-loop.mjs DEVICE "the task"` */
import { openDevice } from "./device.mjs";
import { readSettings } from "./settings.mjs";

const { task, baseURL, apiKey, model, ...place } = readSettings();
const { tools, prompt, call } = await openDevice({ ...place, format: "openai" });
const TURNS = 30;
const messages = [
  { role: "system", content: prompt },
  { role: "user", content: task },
];

/** The model's next message. */
async function ask() {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model, messages, tools }),
  }).catch((cause) => {
    throw new Error(`The model's API at ${baseURL} cannot be reached`, { cause });
  });
  if (!response.ok) throw new Error(`The model's API: ${response.status} ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

/** Runs everything the model asked for in one turn at the same time, and returns the results in order. */
async function run(toolCalls) {
  const results = await Promise.all(
    toolCalls.map(({ function: { name, arguments: input } }) => call(name, input)),
  );
  for (const [index, { text }] of results.entries())
    messages.push({ role: "tool", tool_call_id: toolCalls[index].id, content: text });
  // This API accepts no images in tool results: they follow in a user message.
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
  if (turn > TURNS) throw new Error(`The model didn't finish within ${TURNS} turns`);
  messages.push(message);
  await run(message.tool_calls);
  message = await ask();
}
console.log(message.content);
