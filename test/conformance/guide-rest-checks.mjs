// What the guide promises of REST, one check each. Written from the guide alone.
import assert from "node:assert/strict";
import { fail, inDirectory, succeed } from "./guide-expect.mjs";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const restChecks = {
  "REST: the list names the tools, sorted": {
    needs: [],
    async run(client) {
      const { tools } = await client.list();
      assert.ok(tools.length > 0);
      assert.deepEqual(tools.toSorted(), tools);
      for (const tool of tools) assert.equal(typeof tool, "string");
    },
  },

  "REST: a response has the fields of the guide": {
    needs: ["SystemInfo"],
    async run(client) {
      const response = await succeed(client.invoke("SystemInfo"));
      assert.match(response.output, /^platform: /m);
      assert.equal(response.image, null);
      assert.equal(typeof response.metadata.platform, "string");
      assert.equal(typeof response.metadata.hostname, "string");
    },
  },

  "REST: Bash gives the output of a command": {
    needs: ["Bash"],
    async run(client) {
      const said = await succeed(
        client.invoke("Bash", { command: "echo hello world", description: "Greets" }),
      );
      assert.match(said.output, /hello world/);
      await succeed(client.invoke("Bash", { command: "true" }));
    },
  },

  "REST: requests share no working directory": {
    needs: ["Bash"],
    async run(client) {
      const before = await succeed(client.invoke("Bash", { command: "pwd" }));
      assert.match((await succeed(client.invoke("Bash", { command: "cd /usr && pwd" }))).output, /\/usr/);
      assert.equal((await succeed(client.invoke("Bash", { command: "pwd" }))).output, before.output);
    },
  },

  "REST: Write makes folders, Read numbers the lines": {
    needs: ["Bash", "Read", "Write"],
    run: (client) =>
      inDirectory(client, async (directory) => {
        const file_path = `${directory}/deep/er/note.txt`;
        await succeed(client.invoke("Write", { file_path, content: "one\ntwo\nthree\n" }));
        const whole = await succeed(client.invoke("Read", { file_path }));
        assert.match(whole.output, /1\D*one[\s\S]*2\D*two[\s\S]*3\D*three/);
        const part = await succeed(client.invoke("Read", { file_path, offset: 2, limit: 1 }));
        assert.match(part.output, /2\D*two/);
        assert.doesNotMatch(part.output, /one|three/);
        const nowhere = `${directory}/not/there.txt`;
        await fail(client.invoke("Write", { file_path: nowhere, content: "", create_directories: false }));
      }),
  },

  "REST: ListDirectory is sorted, marks folders, hides dotfiles": {
    needs: ["Bash", "ListDirectory"],
    run: (client) =>
      inDirectory(client, async (path) => {
        await succeed(
          client.invoke("Bash", { command: `cd '${path}' && mkdir sub && touch b.txt a.txt .dot` }),
        );
        const { output } = await succeed(client.invoke("ListDirectory", { path }));
        assert.match(output, /sub\//);
        assert.match(output, /a\.txt[\s\S]*b\.txt/);
        assert.doesNotMatch(output, /\.dot/);
        const all = await succeed(client.invoke("ListDirectory", { path, show_hidden: true }));
        assert.match(all.output, /\.dot/);
      }),
  },

  "REST: Read gives an image as base64": {
    needs: ["Bash", "Read"],
    run: (client) =>
      inDirectory(client, async (directory) => {
        const file_path = `${directory}/dot.png`;
        await succeed(client.invoke("Bash", { command: `printf %s '${PNG}' | base64 -d > '${file_path}'` }));
        const { image } = await succeed(client.invoke("Read", { file_path }));
        assert.deepEqual(image, { media_type: "image/png", base64_data: PNG });
      }),
  },

  "REST: Edit wants a unique string": {
    needs: ["Bash", "Edit", "Read", "Write"],
    run: (client) =>
      inDirectory(client, async (directory) => {
        const file_path = `${directory}/note.txt`;
        await succeed(client.invoke("Write", { file_path, content: "one\ntwo\n" }));
        await succeed(client.invoke("Edit", { file_path, old_string: "two", new_string: "one" }));
        await fail(client.invoke("Edit", { file_path, old_string: "one", new_string: "x" }));
      }),
  },

  "REST: Glob and Grep find files and lines": {
    needs: ["Bash", "Glob", "Grep", "Write"],
    run: (client) =>
      inDirectory(client, async (path) => {
        await succeed(client.invoke("Write", { file_path: `${path}/in/note.txt`, content: "one\nthree\n" }));
        assert.match(
          (await succeed(client.invoke("Glob", { pattern: "**/*.txt", path }))).output,
          /note\.txt/,
        );
        const found = await succeed(client.invoke("Grep", { pattern: "thr.e", path, include: "*.txt" }));
        assert.match(found.output, /note\.txt:2:three/);
      }),
  },

  "REST: Screenshot gives a PNG or says why not": {
    needs: ["Screenshot"],
    async run(client) {
      const { type, image } = await client.invoke("Screenshot");
      if (type === "success") assert.equal(image.media_type, "image/png");
    },
  },

  "REST: OpenUrl and OpenPath want their parameter": {
    needs: ["OpenPath", "OpenUrl"],
    async run(client) {
      await fail(client.invoke("OpenUrl", {}));
      await fail(client.invoke("OpenPath", {}));
    },
  },

  "REST: an unknown tool and a missing parameter are errors": {
    needs: ["Bash", "Read"],
    async run(client) {
      await fail(client.invoke("NoSuchTool", {}));
      await fail(client.invoke("bash", { command: "true" }));
      await fail(client.invoke("Bash", {}));
      await fail(client.invoke("Read", {}));
      await fail(client.invoke("Read", { file_path: "/no/such/file" }));
    },
  },
};
