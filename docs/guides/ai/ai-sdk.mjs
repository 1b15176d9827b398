/** The same with the AI SDK, which handles the loop, the messages and parallel calls. `ai-sdk.mjs DEVICE "the task"` */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { dynamicTool, generateText, isStepCount, jsonSchema } from "ai";
import { openDevice } from "./device.mjs";
import { readSettings } from "./settings.mjs";

const { task, baseURL, apiKey, model, ...place } = readSettings();
const { tools, prompt, call } = await openDevice({ ...place, format: "mcp" });

/** A tool for the SDK; errors it throws are reported to the model. */
function toolOf({ name, description, inputSchema }) {
  return dynamicTool({
    description,
    inputSchema: jsonSchema(inputSchema),
    async execute(input) {
      const result = await call(name, JSON.stringify(input));
      if (result.failed) throw new Error(result.text);
      return result;
    },
    toModelOutput({ output: { text, image } }) {
      if (!image) return { type: "text", value: text };
      const data = { type: "data", data: image.base64_data };
      return {
        type: "content",
        value: [
          { type: "text", text },
          { type: "file", mediaType: image.media_type, data },
        ],
      };
    },
  });
}

const provider = createOpenAICompatible({
  name: "model",
  baseURL,
  apiKey,
  // Only for APIs that accept images in tool results; without it, images are sent as text.
  supportsMultiPartToolContent: true,
});
const { text } = await generateText({
  model: provider(model),
  instructions: prompt,
  prompt: task,
  tools: Object.fromEntries(tools.map((tool) => [tool.name, toolOf(tool)])),
  stopWhen: isStepCount(30),
});
console.log(text);
