/** Types for pictures of the screen. */
import type { MonitorChoice } from "../platform/platform.ts";

export type PictureFormat = "png" | "jpeg";

export interface PictureWanted {
  readonly format: PictureFormat;
  /** By index, id or name; absent: the primary one. */
  readonly monitor: MonitorChoice;
  /** A PNG above this size, in bytes, is made a JPEG. */
  readonly mostBytes: number;
}

export interface Monitor {
  readonly index: number;
  readonly id: number;
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly scale: number;
  readonly primary: boolean;
}

export interface PictureFacts {
  readonly format: PictureFormat;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** Whether it is all one colour; absent if not checked. */
  readonly isOneColour?: boolean;
  /** Index of the monitor, if known. */
  readonly monitor?: number;
  /** All monitors, if known. */
  readonly monitors?: readonly Monitor[];
}

export interface Picture extends PictureFacts {
  readonly bytes: Buffer;
  /** What took it. */
  readonly by: string;
}

/** A program that takes a picture may take this long, in milliseconds. */
export const CAMERA_MS = 10_000;

/** Why one way of taking a picture did not work; the next may. */
export class NoPicture extends Error {}
