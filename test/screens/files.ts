/** A folder of somebody's project, for tools to read and change. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const FILES = {
  "package.json": `${JSON.stringify(
    {
      name: "garden",
      version: "1.4.0",
      type: "module",
      scripts: { start: "node src/water.ts", test: "node --test" },
      dependencies: { "cron-parser": "5.4.0", mqtt: "5.14.1" },
      valves: [
        { id: 1, bed: "tomatoes", minutes: 12 },
        { id: 2, bed: "herbs", minutes: 5 },
      ],
    },
    null,
    2,
  )}\n`,
  "README.md": "# Garden\n\nOpens the valves at dawn, unless it rained.\n\n- `npm start` runs it\n",
  "src/water.ts":
    'import { valves } from "./valves.ts";\n\nconst MINUTES = 10;\n\nexport async function water(bed: string) {\n  const valve = valves.get(bed);\n  await valve.open();\n  await valve.closeAfter(MINUTES);\n}\n',
  "src/valves.ts": "export const valves = new Map();\n",
  "src/rain.ts": "export async function rainedToday(): Promise<boolean> {\n  return false;\n}\n",
  "logs/2026-05-30.log": "06:02 tomatoes: 12 min\n06:14 herbs: 5 min\n",
  "notes.txt": "Ask Ben about the pump.\n",
} as const;

/** Its path; whoever makes it removes it. */
export function makeProject(): string {
  const project = join(realpathSync(mkdtempSync(join(tmpdir(), "ann-"))), "garden");
  for (const [name, text] of Object.entries(FILES)) {
    const file = join(project, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return project;
}
