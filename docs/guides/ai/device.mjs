/** A device as a model's orchestrator sees it: tool definitions, a text for the system prompt, calls in one session. */

/** JSON may contain characters that `.` takes for line ends, so line ends are spelled out. */
const LAST_EVENT = /(?:^|\n)event: (result|error)\n(?:id: [^\n]*\n)?data: ([^\n]*)\n\n$/;

/** `format`: anthropic, openai, openai-responses or mcp. Throws if the relay or the device cannot be used. */
export async function openDevice({ relay, device, token, format }) {
  const address = `${relay}/v1/devices/${device}`;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

  async function request(path, options) {
    return fetch(address + path, options).catch((cause) => {
      throw new Error(`The relay at ${relay} cannot be reached`, { cause });
    });
  }

  async function get(path) {
    const response = await request(path, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  const { tools } = await (await get(`/tools?format=${format}`)).json();
  const prompt = await (await get("/system-prompt")).text();

  // Calls in one session share a working directory. Even a refused call returns the session's id.
  const first = await request("/tools/SystemInfo", {
    method: "POST",
    headers: { ...headers, "Matrx-Session": "new" },
  });
  const session = first.headers.get("Matrx-Session");
  if (!session) throw new Error(`No session: ${first.status} ${await first.text()}`);

  /**
   * Calls a tool by the name the model uses; `input` is the model's JSON. Resolves to what to tell the model, and the
   * image if there is one. Uses events, because after a minute a plain answer is only a 202.
   */
  async function call(name, input) {
    const response = await request(`/tools/${encodeURIComponent(name)}`, {
      method: "POST",
      headers: { ...headers, "Matrx-Session": session, Accept: "text/event-stream" },
      body: input || "{}",
    });
    const text = await response.text();
    const isStream = response.headers.get("Content-Type") === "text/event-stream";
    const [, event, data] = text.match(LAST_EVENT) ?? [];
    if (isStream && !event) return failure({ code: "OUTCOME_UNKNOWN", detail: "The relay hung up" });
    const answer = JSON.parse(isStream ? data : text);
    if (event !== "result") return failure(answer);
    return { failed: false, text: answer.output, image: answer.image };
  }

  return { tools, prompt, call };
}

/** An error is a result for the model too: the hint often helps it find a way. */
function failure({ code, detail, hint = "" }) {
  return { failed: true, text: `Error ${code}: ${detail}. ${hint}`.trim(), image: null };
}
