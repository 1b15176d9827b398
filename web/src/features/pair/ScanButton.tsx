/** Scans a machine's QR code with the camera, where the browser can read them; elsewhere the code is typed. */
import { Button } from "@mantine/core";
import { IconQrcode } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { sayProblem } from "../../ui/notices.ts";
import classes from "./ScanButton.module.css";

/** Not in every browser, nor in TypeScript's library. */
interface Detector {
  detect(source: HTMLVideoElement): Promise<readonly { rawValue: string }[]>;
}
interface DetectorClass {
  new (options: { formats: readonly string[] }): Detector;
}

const { BarcodeDetector } = globalThis as { BarcodeDetector?: DetectorClass };

/** How often a picture of the camera is looked at, in milliseconds. */
const LOOK_EVERY = 250;

export function ScanButton({ found }: { found: (text: string) => void }) {
  const [isOn, setOn] = useState(false);
  if (!BarcodeDetector || !navigator.mediaDevices) return null;
  const stop = () => setOn(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconQrcode size={18} aria-hidden />}
        onClick={() => setOn((before) => !before)}
      >
        {isOn ? "Stop the camera" : "Scan"}
      </Button>
      {isOn && <Camera detector={new BarcodeDetector({ formats: ["qr_code"] })} found={found} stop={stop} />}
    </>
  );
}

interface CameraProps {
  readonly detector: Detector;
  readonly found: (text: string) => void;
  readonly stop: () => void;
}

function Camera({ detector, found, stop }: CameraProps) {
  const video = useRef<HTMLVideoElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the camera is opened once, whatever is drawn around it
  useEffect(() => {
    let stream: MediaStream | undefined;
    let isOver = false;
    const look = async () => {
      if (!video.current || video.current.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
      const [code] = await detector.detect(video.current).catch(() => []);
      if (!code || isOver) return;
      stop();
      found(code.rawValue);
    };
    const timer = setInterval(() => void look(), LOOK_EVERY);
    const close = () => {
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } }).then(
      (opened) => {
        stream = opened;
        if (isOver) close();
        else if (video.current) video.current.srcObject = opened;
      },
      () => {
        stop();
        sayProblem(new Error("The camera can't be used: allow it in the browser, or type the code."));
      },
    );
    return () => {
      isOver = true;
      clearInterval(timer);
      close();
    };
  }, []);
  return (
    <video
      ref={video}
      className={classes.video}
      autoPlay
      muted
      playsInline
      aria-label="The camera's picture"
    />
  );
}
