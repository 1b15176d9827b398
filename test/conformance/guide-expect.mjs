// What every check of the guide client asks of a response.
import assert from "node:assert/strict";

/** The response of a call that must succeed. */
export async function succeed(pending) {
  const response = await pending;
  assert.equal(response.type, "success", response.output);
  return response;
}

/** The response of a call that must fail. */
export async function fail(pending) {
  const response = await pending;
  assert.equal(response.type, "error", `expected an error, got: ${response.output}`);
  assert.notEqual(response.output, "", "an error says what is wrong");
  return response;
}

/** A directory on the machine behind the tools, made and removed with the tools. */
export async function inDirectory(caller, work) {
  const made = await succeed(caller.invoke("Bash", { command: "mktemp -d" }));
  const directory = made.output.trim().split("\n").at(-1);
  assert.match(directory, /^\//);
  try {
    await work(directory);
  } finally {
    await caller.invoke("Bash", { command: `rm -rf '${directory}'` });
  }
}

export const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Every field of a response, as the guide lists them. */
export function checkShape(response) {
  assert.equal(typeof response, "object");
  assert.ok(["success", "error"].includes(response.type), `type is ${response.type}`);
  assert.equal(typeof response.output, "string", "output is always a string");
  if (response.image !== undefined && response.image !== null) {
    assert.match(response.image.media_type, /^image\//);
    assert.equal(typeof response.image.base64_data, "string");
  }
  if (response.metadata !== undefined && response.metadata !== null) {
    assert.equal(typeof response.metadata, "object");
    assert.ok(!Array.isArray(response.metadata));
  }
  return response;
}
