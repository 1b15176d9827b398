// What the guide promises of the WebSocket, one check each. Written from the guide alone.
import assert from "node:assert/strict";
import { delay, fail, inDirectory, succeed } from "./guide-expect.mjs";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Asks BashOutput until its collected text matches. */
async function outputUntil(session, bash_id, pattern) {
  let text = "";
  for (const end = Date.now() + 8000; Date.now() < end; await delay(50)) {
    text += `${(await succeed(session.invoke("BashOutput", { bash_id }))).output}\n`;
    if (pattern.test(text)) return text;
  }
  return assert.fail(`BashOutput never showed ${pattern}: ${text}`);
}

/** The id of a background shell: the guide calls it bash_id, task_id and shell_id. */
function shellId(response) {
  const { bash_id, shell_id, task_id } = response.metadata ?? {};
  const id = bash_id ?? shell_id ?? task_id;
  assert.equal(typeof id, "string", `no shell id in ${JSON.stringify(response)}`);
  return id;
}

export const socketChecks = {
  "WebSocket: a response has the fields of the guide": {
    needs: ["SystemInfo"],
    run: (client) =>
      client.session(async (session) => {
        const { id, response } = session.start("SystemInfo", {});
        const got = await succeed(response);
        assert.equal(got.id, id);
        for (const field of ["id", "type", "output"]) assert.equal(typeof got[field], "string");
        assert.equal(typeof got.metadata.hostname, "string");
      }),
  },

  "WebSocket: a session keeps its working directory": {
    needs: ["Bash", "ListDirectory", "Read", "Write"],
    run: (client) =>
      client.session((session) =>
        inDirectory(session, async (directory) => {
          const sub = `${directory}/sub`;
          await succeed(session.invoke("Bash", { command: `mkdir '${sub}' && cd '${sub}'` }));
          const pwd = await succeed(session.invoke("Bash", { command: "pwd" }));
          assert.ok(pwd.output.trim().endsWith(sub), pwd.output);
          assert.ok(pwd.metadata.cwd.endsWith(sub), "metadata.cwd follows");
          await succeed(session.invoke("Write", { file_path: "here.txt", content: "relative" }));
          assert.match((await succeed(session.invoke("Read", { file_path: "here.txt" }))).output, /relative/);
          assert.match((await succeed(session.invoke("ListDirectory", {}))).output, /here\.txt/);
          await client.session(async (other) => {
            const elsewhere = await succeed(other.invoke("Bash", { command: "pwd" }));
            assert.ok(!elsewhere.output.includes(directory), "sessions are apart");
          });
          await succeed(session.invoke("Bash", { command: "cd /" }));
        }),
      ),
  },

  "WebSocket: Read gives an image as base64": {
    needs: ["Bash", "Read"],
    run: (client) =>
      client.session((session) =>
        inDirectory(session, async (directory) => {
          const file_path = `${directory}/dot.png`;
          const command = `printf %s '${PNG}' | base64 -d > '${file_path}'`;
          await succeed(session.invoke("Bash", { command }));
          const { image } = await succeed(session.invoke("Read", { file_path }));
          assert.deepEqual(image, { media_type: "image/png", base64_data: PNG });
        }),
      ),
  },

  "WebSocket: calls run concurrently and answer out of order": {
    needs: ["Bash"],
    run: (client) =>
      client.session(async (session) => {
        const slow = session.start("Bash", { command: "sleep 1; echo slow" });
        const quick = [0, 1, 2, 3].map((index) => session.start("Bash", { command: `echo quick-${index}` }));
        for (const [index, call] of quick.entries())
          assert.match((await succeed(call.response)).output, new RegExp(`quick-${index}`));
        assert.match((await succeed(slow.response)).output, /slow/);
        assert.equal(session.order.at(-1), slow.id);
      }),
  },

  "WebSocket: a background command is followed to its end": {
    needs: ["Bash", "BashOutput"],
    run: (client) =>
      client.session(async (session) => {
        const command = "echo first; sleep 0.4; echo second";
        const bash_id = shellId(await succeed(session.invoke("Bash", { command, run_in_background: true })));
        await outputUntil(session, bash_id, /running[\s\S]*first|first[\s\S]*running/i);
        const rest = await outputUntil(session, bash_id, /second[\s\S]*completed|completed[\s\S]*second/i);
        assert.doesNotMatch(rest, /first/, "only new output");
      }),
  },

  "WebSocket: background output is filtered, TaskStop ends the command": {
    needs: ["Bash", "BashOutput", "TaskStop"],
    run: (client) =>
      client.session(async (session) => {
        const command = "while true; do echo keep; echo drop; sleep 0.1; done";
        const bash_id = shellId(await succeed(session.invoke("Bash", { command, run_in_background: true })));
        await outputUntil(session, bash_id, /keep/);
        await delay(250);
        const { output } = await succeed(session.invoke("BashOutput", { bash_id, filter: "^k..p$" }));
        assert.match(output, /keep/);
        assert.doesNotMatch(output, /drop/);
        assert.match(output, /running/i);
        await succeed(session.invoke("TaskStop", { task_id: bash_id }));
        const after = await session.invoke("BashOutput", { bash_id });
        assert.doesNotMatch(after.output, /\brunning\b/i);
        await fail(session.invoke("TaskStop", { task_id: "no-such-task" }));
      }),
  },

  "WebSocket: timeout ends a command": {
    needs: ["Bash"],
    run: (client) =>
      client.session(async (session) => {
        const started = Date.now();
        await fail(session.invoke("Bash", { command: "sleep 30", timeout: 400 }));
        assert.ok(Date.now() - started < 5000, "it ended late");
      }),
  },

  "WebSocket: cancel ends one call and no other": {
    needs: ["Bash"],
    run: (client) =>
      client.session(async (session) => {
        const one = session.start("Bash", { command: "sleep 30" });
        const other = session.start("Bash", { command: "sleep 0.8; echo survived" });
        await delay(200);
        session.cancel(one.id);
        await fail(one.response);
        assert.match((await succeed(other.response)).output, /survived/);
      }),
  },

  "WebSocket: cancel_all ends every call of the session": {
    needs: ["Bash"],
    run: (client) =>
      client.session(async (session) => {
        const calls = [1, 2, 3].map(() => session.start("Bash", { command: "sleep 30" }));
        await delay(200);
        session.cancelAll();
        for (const call of calls) await fail(call.response);
        assert.match((await succeed(session.invoke("Bash", { command: "echo alive" }))).output, /alive/);
      }),
  },

  "WebSocket: ping is answered, also while a call runs": {
    needs: ["Bash"],
    run: (client) =>
      client.session(async (session) => {
        const call = session.start("Bash", { command: "sleep 0.3" });
        await session.ping();
        await session.ping();
        await succeed(call.response);
      }),
  },

  "WebSocket: an unknown tool and a missing parameter are errors": {
    needs: ["Bash", "Read"],
    run: (client) =>
      client.session(async (session) => {
        await fail(session.invoke("NoSuchTool", {}));
        await fail(session.invoke("Bash", {}));
        await fail(session.invoke("Read", {}));
        await succeed(session.invoke("Bash", { command: "true" }));
      }),
  },
};
