/** What people ask of their files. Judged by what is on disk then, and by what is in an answer, never by its wording. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { makePng } from "../../helpers/png.ts";
import type { Case } from "./case.ts";
import { check, checkHas, checkSame, SECRET } from "./place.ts";

const UNICODE = "Grüße, 你好, 🎉, e\u0301\n";
/** An answer may have this many characters: a model reads no more. */
const ANSWER_MAX = 1024 * 1024;

const ROWS = Array.from({ length: 5000 }, (_, i) => `row-${String(i + 1).padStart(5, "0")}`);
const LONG = `${ROWS.join("\n")}\n`;

export const READ_CASES: readonly Case[] = [
  {
    name: "reads a text file",
    run: async (peer, place) => {
      const { text } = await peer.ask("read", { path: place.put("a.txt", "one\ntwo\nthree\n") });
      checkHas(text, "one", "two", "three");
    },
  },
  {
    name: "reads ten lines of five thousand, and no others",
    run: async (peer, place) => {
      const path = place.put("long.txt", LONG);
      const { text } = await peer.ask("readLines", { path, from: 2001, count: 10 });
      checkSame(text.match(/row-\d{5}/g), ROWS.slice(2000, 2010));
    },
  },
  {
    name: "reads the last lines of a file",
    run: async (peer, place) => {
      const { text } = await peer.ask("readEnd", { path: place.put("log.txt", LONG), count: 3 });
      checkSame(text.match(/row-\d{5}/g), ROWS.slice(-3));
    },
  },
  {
    name: "reads an empty file without an error",
    run: async (peer, place) => {
      const { failed } = await peer.ask("read", { path: place.put("empty", "") });
      check(!failed, "an error");
    },
  },
  {
    name: "reads every script and sign",
    run: async (peer, place) => {
      const { text } = await peer.ask("read", { path: place.put("Grüße 你好 🎉.txt", UNICODE) });
      checkHas(text, UNICODE.trim());
    },
  },
  {
    name: "keeps the answer small for a file of 20 MiB",
    run: async (peer, place) => {
      const path = place.put("large.txt", `first line\n${"x".repeat(99).concat("\n").repeat(210_000)}`);
      const { text } = await peer.ask("read", { path });
      check(text.length < ANSWER_MAX, `${text.length} characters`);
      checkHas(text, "first line");
    },
  },
  {
    name: "keeps the answer small for one line of 8 MiB",
    run: async (peer, place) => {
      const { text } = await peer.ask("read", { path: place.put("line.txt", "y".repeat(8 * ANSWER_MAX)) });
      check(text.length < ANSWER_MAX, `${text.length} characters`);
    },
  },
  {
    name: "puts no binary file into a model's text",
    run: async (peer, place) => {
      const bytes = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256);
      const { text } = await peer.ask("read", { path: place.put("program.bin", bytes) });
      check(!text.includes("\0") && !text.includes("\ufffd"), "bytes as text");
    },
  },
  {
    name: "shows a picture as a picture",
    run: async (peer, place) => {
      const path = place.put(
        "red.png",
        makePng(8, 8, () => [255, 0, 0]),
      );
      const { content } = await peer.ask("readImage", { path });
      const picture = content.find(({ type }) => type === "image");
      check(picture?.mimeType?.startsWith("image/") === true, "no picture");
      check(Buffer.from(picture?.data ?? "", "base64").length > 60, "an empty picture");
    },
  },
  {
    name: "says that a file is not there",
    run: async (peer, place) => {
      const { failed } = await peer.ask("read", { path: place.path("nowhere.txt") });
      check(failed, "no error");
    },
  },
  {
    name: "lists a folder",
    run: async (peer, place) => {
      place.put("f/one.txt", "");
      place.put("f/two words.txt", "");
      place.put("f/inner/deep.txt", "");
      const { text } = await peer.ask("list", { path: place.path("f") });
      checkHas(text, "one.txt", "two words.txt", "inner");
    },
  },
  {
    name: "finds files by a pattern, in all folders below",
    run: async (peer, place) => {
      for (const name of ["src/a.ts", "src/x/y/b.ts", "src/c.js"]) place.put(name, "");
      const { text } = await peer.ask("find", { path: place.path("src"), pattern: "**/*.ts" });
      checkHas(text, "a.ts", "b.ts");
      check(!text.includes("c.js"), "others too");
    },
  },
  {
    name: "searches in files",
    run: async (peer, place) => {
      place.put("s/one.txt", "nothing here\n");
      place.put("s/deep/two.txt", "before\na needle in it\nafter\n");
      const { text } = await peer.ask("search", { path: place.path("s"), text: "needle" });
      checkHas(text, "two.txt");
      check(!text.includes("one.txt"), "others too");
    },
  },
];

export const WRITE_CASES: readonly Case[] = [
  {
    name: "writes a file, byte by byte as it was given",
    run: async (peer, place) => {
      const content = `a\r\nb\n\tc  \n${UNICODE}`;
      await peer.ask("write", { path: place.path("new.txt"), content });
      checkSame(place.text("new.txt"), content);
    },
  },
  {
    name: "writes a file into a folder that is not there yet",
    run: async (peer, place) => {
      await peer.ask("write", { path: place.path("x/y/new.txt"), content: "here" });
      checkSame(existsSync(place.path("x/y/new.txt")) && place.text("x/y/new.txt"), "here");
    },
  },
  {
    name: "writes 2 MiB at once",
    run: async (peer, place) => {
      const content = "0123456789abcdef".repeat(128 * 1024);
      await peer.ask("write", { path: place.path("two.txt"), content });
      checkSame(place.text("two.txt").length, content.length);
    },
  },
  {
    name: "changes one place of a file and nothing else",
    run: async (peer, place) => {
      const path = place.put("code.ts", "const a = 1;\n\tconst b = 2;\nconst c = 3; \n");
      await peer.ask("edit", { path, from: "const b = 2;", to: "const b = 20;" });
      checkSame(place.text("code.ts"), "const a = 1;\n\tconst b = 20;\nconst c = 3; \n");
    },
  },
  {
    name: "keeps the line ends of Windows in a change of several lines",
    run: async (peer, place) => {
      const path = place.put("win.txt", "one\r\ntwo\r\nthree\r\n");
      await peer.ask("edit", { path, from: "two\nthree", to: "2\n3" });
      checkSame(place.text("win.txt"), "one\r\n2\r\n3\r\n");
    },
  },
  {
    name: "takes a replacement as it is, signs like $& too",
    run: async (peer, place) => {
      const path = place.put("price.txt", "price: X\n");
      await peer.ask("edit", { path, from: "X", to: "$& $1 $$ $`" });
      checkSame(place.text("price.txt"), "price: $& $1 $$ $`\n");
    },
  },
  {
    name: "changes nothing where the text stands twice",
    run: async (peer, place) => {
      const path = place.put("twice.txt", "same\nother\nsame\n");
      await peer.ask("edit", { path, from: "same", to: "changed" });
      checkSame(place.text("twice.txt"), "same\nother\nsame\n");
    },
  },
  {
    name: "says that the text to change is not there",
    run: async (peer, place) => {
      const path = place.put("other.txt", "something else\n");
      const { failed } = await peer.ask("edit", { path, from: "not in it", to: "x" });
      check(failed, "no error");
      checkSame(place.text("other.txt"), "something else\n");
    },
  },
  {
    name: "keeps a program a program",
    run: async (peer, place) => {
      const path = place.put("run.sh", "#!/bin/sh\necho old\n");
      chmodSync(path, 0o755);
      await peer.ask("edit", { path, from: "old", to: "new" });
      checkSame([place.text("run.sh"), statSync(path).mode & 0o777], ["#!/bin/sh\necho new\n", 0o755]);
    },
  },
  {
    name: "writes through a link, and leaves it a link",
    run: async (peer, place) => {
      const target = place.put("target.txt", "old");
      symlinkSync(target, place.path("link.txt"));
      await peer.ask("write", { path: place.path("link.txt"), content: "new" });
      checkSame(place.text("target.txt"), "new");
    },
  },
  {
    name: "moves a file",
    run: async (peer, place) => {
      const from = place.put("old name.txt", "moved");
      mkdirSync(place.path("there"));
      await peer.ask("move", { from, to: place.path("there/new name.txt") });
      checkSame([existsSync(from), place.text("there/new name.txt")], [false, "moved"]);
    },
  },
  {
    name: "moves nothing onto another file unasked",
    run: async (peer, place) => {
      const from = place.put("mine.txt", "mine");
      const { failed } = await peer.ask("move", { from, to: place.put("theirs.txt", "theirs") });
      check(failed, "no error");
      checkSame([place.text("mine.txt"), place.text("theirs.txt")], ["mine", "theirs"]);
    },
  },
  {
    name: "deletes a file",
    run: async (peer, place) => {
      const path = place.put("gone.txt", "");
      await peer.ask("remove", { path });
      check(!existsSync(path), "still there");
    },
  },
];

export const BORDER_CASES: readonly Case[] = [
  {
    name: "reads nothing outside of its folder",
    run: async (peer, place) => {
      for (const path of [place.secret, place.path("x/../../../secret.txt")]) {
        const { failed, text } = await peer.ask("read", { path });
        check(failed && !text.includes(SECRET), "read");
      }
    },
  },
  {
    name: "follows no link out of its folder",
    run: async (peer, place) => {
      symlinkSync(place.secret, place.path("way-out.txt"));
      const { failed, text } = await peer.ask("read", { path: place.path("way-out.txt") });
      check(failed && !text.includes(SECRET), "read");
      await peer.ask("write", { path: place.path("way-out.txt"), content: "overwritten" });
      checkSame(readFileSync(place.secret, "utf8"), SECRET);
    },
  },
  {
    name: "writes and moves nothing out of its folder",
    run: async (peer, place) => {
      const out = place.path("../../out.txt");
      const written = await peer.ask("write", { path: out, content: "x" });
      const moved = await peer.ask("move", { from: place.put("in.txt", "in"), to: out });
      check(written.failed && moved.failed, "no error");
      check(!existsSync(out), "written");
    },
  },
];
