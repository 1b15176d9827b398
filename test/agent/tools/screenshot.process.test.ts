/** Pictures of a real screen, and what is said when there is none. */
import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { capture } from "../../../agent/desktop/capture.ts";
import { FakePrograms } from "../../helpers/fake-programs.ts";
import { until } from "../../helpers/launcher.ts";
import { redAndBlue } from "../../helpers/pictures.ts";
import { makePng, readPng } from "../../helpers/png.ts";
import { NEEDS_XVFB, startScreen } from "../../helpers/xvfb.ts";
import { failure, isAlive, Workbench } from "./workbench.ts";

const BLUE = [0x11, 0x22, 0xcc] as const;
const ORANGE = [0xee, 0x88, 0x00] as const;
/** Two colours in a grid, so that nothing is one colour all over. */
const GRID = ["-mod", "16", "16", "-fg", "#ee8800", "-bg", "#1122cc"];

/** The library's process dies at once, as by a fault in native code. */
const CRASH = "--import=data:text/javascript,process.kill(process.pid,'SIGSEGV')";

const { DISPLAY: _x, WAYLAND_DISPLAY: _w, ...headless } = process.env;

function imageOf({ image }: Awaited<ReturnType<Workbench["call"]>>): Buffer {
  return Buffer.from(image?.base64_data ?? "", "base64");
}

describe("without a screen", () => {
  it("says that there is none, and what to do", async () => {
    const bench = await Workbench.open({ env: headless });
    const error = await failure(bench.call("Screenshot", {}));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "NO_DISPLAY" } });
    expect(error.hint).toContain("DISPLAY");
  });

  it("says that the display does not answer", async () => {
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: ":64999" } });
    const error = await failure(bench.call("Screenshot", {}));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "NO_DISPLAY" } });
    expect(error.message).toContain("node-screenshots: ");
  });
});

describe("with a screen", NEEDS_XVFB, () => {
  it("gives its pixels as PNG, and saves them for the agent's user alone", async () => {
    await using screen = await startScreen("640x400");
    await screen.paint(...GRID);
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: screen.display } });
    const result = await bench.call("Screenshot", {});

    expect(result.image?.media_type).toBe("image/png");
    const { width, height, colourAt } = readPng(imageOf(result));
    expect([width, height]).toEqual([640, 400]);
    const colours = new Set(Array.from({ length: 640 }, (_, x) => colourAt(x, 8).join()));
    expect(colours).toEqual(new Set([BLUE.join(), ORANGE.join()]));

    const file = String(result.metadata?.path);
    expect(result.output).toContain(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    expect((await stat(file)).size).toBe(imageOf(result).length);
    expect(result.metadata).toMatchObject({
      width: 640,
      height: 400,
      one_colour: false,
      taken_by: "node-screenshots",
      monitor: 0,
      monitors: [{ index: 0, x: 0, y: 0, width: 640, height: 400 }],
    });
  });

  it("gives a JPEG to who asks for one, and to whom a PNG would be too large", async () => {
    await using screen = await startScreen();
    await screen.paint(...GRID);
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: screen.display } });
    const asked = await bench.call("Screenshot", { format: "jpeg" });
    expect(asked.image?.media_type).toBe("image/jpeg");
    expect(imageOf(asked).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
    expect(asked.output).not.toContain("larger");

    const wanted = { format: "png", monitor: undefined, mostBytes: 100 } as const;
    const own = await bench.desktop.ownSurroundings();
    const album = bench.desktop.pictures.of("test");
    const { signal } = new AbortController();
    const small = await capture(bench.desktop, wanted, { ...own, album, signal });
    expect(small).toMatchObject({ format: "jpeg", width: 640, height: 400 });
  });

  it("takes the monitor that is named, and lists them when there is none such", async () => {
    await using screen = await startScreen();
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: screen.display } });
    const { metadata } = await bench.call("Screenshot", { monitor: 0 });
    const [monitor] = (metadata?.monitors ?? []) as { name: string; id: number }[];
    for (const choice of [monitor?.name, monitor?.id, String(monitor?.id)]) {
      expect((await bench.call("Screenshot", { monitor: choice })).metadata).toMatchObject({ monitor: 0 });
    }
    const error = await failure(bench.call("Screenshot", { monitor: "the left one" }));
    expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: { field: "monitor" } });
    expect(error.hint).toContain(monitor?.name);
  });

  it("takes several that are asked for at once, one after the other", async () => {
    await using screen = await startScreen();
    await screen.paint(...GRID);
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: screen.display } });
    const all = await Promise.all([1, 2, 3].map(() => bench.call("Screenshot", {})));
    expect(new Set(all.map(({ metadata }) => metadata?.path)).size).toBe(3);
    expect(new Set(all.map(({ image }) => image?.base64_data)).size).toBe(1);
  });

  it("says that a picture is one colour all over", async () => {
    await using screen = await startScreen();
    await screen.paint("-solid", "#1122cc");
    const bench = await Workbench.open({ env: { ...headless, DISPLAY: screen.display } });
    const result = await bench.call("Screenshot", {});
    expect(result.metadata).toMatchObject({ one_colour: true });
    expect(result.output).toContain("one colour");
    expect(readPng(imageOf(result)).colourAt(10, 10)).toEqual(BLUE);
  });

  it("lives on when the library crashes, and says so when nothing stands in", async () => {
    await using screen = await startScreen();
    const env = { ...headless, DISPLAY: screen.display, PATH: "/nowhere", NODE_OPTIONS: CRASH };
    const bench = await Workbench.open({ env });
    const error = await failure(bench.call("Screenshot", {}));
    expect(error).toMatchObject({ code: "TOOL_EXECUTION_FAILED", details: { reason: "NO_CAMERA" } });
    expect(error.message).toContain("SIGSEGV");
  });
});

describe("a program that stands in for the library", () => {
  /** A device whose library crashes, and whose ffmpeg is this script; `$file` is what it is to write. */
  async function withCamera(script: string) {
    const programs = new FakePrograms().add("ffmpeg", `for file; do :; done\n${script}`);
    const env = { ...headless, DISPLAY: ":64999", NODE_OPTIONS: CRASH, PATH: programs.path };
    return { programs, bench: await Workbench.open({ env }) };
  }

  it("takes the picture, and its size is read from the file", async () => {
    const { bench, programs } = await withCamera('cp "$here/picture" "$file"');
    programs.put(
      "picture",
      makePng(48, 32, (x) => (x < 24 ? BLUE : ORANGE)),
    );
    const result = await bench.call("Screenshot", {});
    expect(result.metadata).toMatchObject({ taken_by: "ffmpeg", width: 48, height: 32, one_colour: false });
    expect(readPng(imageOf(result)).colourAt(40, 8)).toEqual(ORANGE);
  });

  it("takes a JPEG instead of a PNG that is too large, and says so", async () => {
    const { bench, programs } = await withCamera(
      'case "$file" in *.png) cat "$here/head" > "$file"; head -c 11000000 /dev/urandom >> "$file";;' +
        ' *) cp "$here/jpeg" "$file";; esac',
    );
    // A frame header of 100 by 60 pixels; the rest is of no interest.
    const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 60, 0, 100, 3, 1, 0x11, 0];
    programs.put("jpeg", Buffer.from([...jpeg, 0xff, 0xd9]));
    programs.put("head", makePng(1, 1, () => BLUE).subarray(0, 33));
    const result = await bench.call("Screenshot", { format: "png" });
    expect(result.image?.media_type).toBe("image/jpeg");
    expect(result.metadata).toMatchObject({ width: 100, height: 60 });
    expect(result.output).toContain("JPEG of lower quality");
  });

  it("gives a model the screen as it takes it, and who names a format the whole", async () => {
    const { bench, programs } = await withCamera('cp "$here/picture" "$file"');
    programs.put("picture", redAndBlue(3840, 24));
    const { output, image, metadata } = await bench.call("Screenshot", {});
    expect(readPng(Buffer.from(image?.base64_data ?? "", "base64"))).toMatchObject({
      width: 1568,
      height: 10,
    });
    expect(metadata).toMatchObject({ width: 3840, height: 24 });
    expect(output).toContain("[Shown as 1568x10]");
    expect(readPng(readFileSync(String(metadata?.path)))).toMatchObject({ width: 3840, height: 24 });
    const whole = await bench.call("Screenshot", { format: "png" });
    expect(readPng(imageOf(whole))).toMatchObject({ width: 3840, height: 24 });
  });

  it("says why a model can't be shown it, and where it is", async () => {
    const { bench, programs } = await withCamera('cp "$here/picture" "$file"');
    programs.put("picture", redAndBlue(40, 24).subarray(0, 80));
    const { output, image, metadata } = await bench.call("Screenshot", {});
    expect(image).toBeUndefined();
    expect(output).toContain("[It can't be shown: it is damaged or incomplete");
    expect(output).toContain(String(metadata?.path));
  });

  it("is not believed when it made no picture", async () => {
    const { bench } = await withCamera("echo cannot grab >&2; exit 0");
    const error = await failure(bench.call("Screenshot", {}));
    expect(error.message).toContain("made no picture");
  });

  it("ends with the call that is cancelled", async () => {
    const { bench, programs } = await withCamera('echo $$ > "$here/pid"; exec sleep 60');
    const stop = new AbortController();
    const call = failure(bench.call("Screenshot", {}, { signal: stop.signal }));
    const pid = Number(await programs.said("pid"));
    stop.abort(Object.assign(new Error("cancelled"), { code: "CANCELLED" }));
    expect((await call).code).toBe("CANCELLED");
    await until("the camera has ended", () => !isAlive(pid));
  });
});
