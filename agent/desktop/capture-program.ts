/**
 * A separate program that takes a picture with node-screenshots, so that a crash or hang in the library or the system only
 * affects this process and not the agent. Argument: the request, as JSON. Writes one line of JSON, then the picture.
 */
import type { Monitor as NativeMonitor } from "node-screenshots";
import type { CaptureAnswer } from "./native-screenshot.ts";
import type { Monitor, PictureWanted } from "./screenshot.ts";

const { answer, bytes } = await capture(JSON.parse(process.argv[2] ?? "{}")).catch(refused);
process.stdout.write(`${JSON.stringify(answer)}\n`);
if (bytes) process.stdout.write(bytes);

interface Capture {
  answer: CaptureAnswer;
  bytes?: Buffer;
}

function refused(error: unknown): Capture {
  return { answer: { error: error instanceof Error ? error.message : String(error) } };
}

async function capture({ monitor, format, mostBytes }: PictureWanted): Promise<Capture> {
  const { Monitor } = await import("node-screenshots");
  const all = Monitor.all();
  const monitors = all.map(described);
  const index = indexOf(monitors, monitor);
  const native = all[index];
  if (!native) return { answer: { monitors } };
  const image = await native.captureImage();
  const { width, height } = image;
  const isOneColour = allTheSame(await image.toRaw());
  const png = format === "png" ? await image.toPng() : undefined;
  const isPng = png !== undefined && png.length <= mostBytes;
  const bytes = isPng ? png : await image.toJpeg();
  const facts = {
    format: isPng ? "png" : "jpeg",
    width,
    height,
    isOneColour,
    monitor: index,
    monitors,
  } as const;
  return { answer: { facts }, bytes };
}

function described(monitor: NativeMonitor, index: number): Monitor {
  return {
    index,
    id: monitor.id(),
    name: monitor.name(),
    x: monitor.x(),
    y: monitor.y(),
    width: monitor.width(),
    height: monitor.height(),
    scale: monitor.scaleFactor(),
    primary: monitor.isPrimary(),
  };
}

/** -1 if there is no such monitor. By default the primary one, or the first if none is marked primary. */
function indexOf(monitors: readonly Monitor[], wanted: PictureWanted["monitor"]): number {
  if (wanted === undefined) {
    return Math.max(
      0,
      monitors.findIndex(({ primary }) => primary),
    );
  }
  const tests: ((monitor: Monitor) => boolean)[] = [
    ({ index }) => index === wanted,
    ({ id }) => String(id) === String(wanted),
    ({ name }) => name === wanted,
  ];
  return tests.map((test) => monitors.findIndex(test)).find((index) => index >= 0) ?? -1;
}

/** Four bytes a pixel: each is the same as the next. */
function allTheSame(raw: Buffer): boolean {
  return raw.length > 4 && raw.subarray(4).equals(raw.subarray(0, -4));
}
