/** What an answer has besides its text and its first picture. */
import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { CallAnswer } from "../../relay/call-events.ts";
import { Fold } from "../Fold.tsx";
import { plural } from "../format.ts";
import { visibleLine } from "../visible-text.ts";
import { PictureView } from "./PictureView.tsx";
import { TextView } from "./TextView.tsx";

type Part = NonNullable<CallAnswer["content"]>[number];

const AUDIO = [
  "audio/wav",
  "audio/x-wav",
  "audio/mpeg",
  "audio/mp4",
  "audio/ogg",
  "audio/webm",
  "audio/flac",
];
/** Parts that are shown. */
const MOST = 50;

interface Props {
  readonly content: readonly Part[];
  /** Of files in which parts are saved, without an ending. */
  readonly fileName: string;
}

export function Parts({ content, fileName }: Props) {
  const others = content.filter(({ type }) => type !== "text");
  // The answer has it by itself.
  const first = others.findIndex(({ type }) => type === "image");
  const parts = others.filter((_, at) => at !== first);
  return (
    <>
      {parts.slice(0, MOST).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
        <PartView key={at} part={part} fileName={`${fileName}-${at + 2}`} />
      ))}
      {parts.length > MOST && <Note>And {plural(parts.length - MOST, "more part")}.</Note>}
    </>
  );
}

function PartView({ part, fileName }: { part: Part; fileName: string }) {
  switch (part.type) {
    case "image":
      return <PictureView type={part.mimeType} base64={part.data} fileName={fileName} />;
    case "audio":
      return <Sound type={part.mimeType} base64={part.data} />;
    case "resource_link":
      return (
        <Note>
          Link: {line(part.title ?? part.name)} ({line(part.uri)})
        </Note>
      );
    case "resource":
      return <Resource resource={part.resource} fileName={fileName} />;
    default:
      return <Note>A part of type {line(part.type)}, which can't be shown here.</Note>;
  }
}

function Sound({ type, base64 }: { type: string; base64: string }) {
  if (!AUDIO.includes(type)) return <Note>Audio of type {line(type)}, which can't be played here.</Note>;
  return (
    // biome-ignore lint/a11y/useMediaCaption: a tool's sound has no captions
    <audio controls aria-label="Sound that the tool returned" src={`data:${type};base64,${base64}`} />
  );
}

type ResourcePart = Extract<Part, { type: "resource" }>;

function Resource({ resource, fileName }: { resource: ResourcePart["resource"]; fileName: string }) {
  if (!("text" in resource))
    return (
      <Note>
        Resource: {line(resource.uri)} ({line(resource.mimeType ?? "binary")})
      </Note>
    );
  return (
    <Fold title={<bdi>Resource: {line(resource.uri)}</bdi>}>
      {() => <TextView text={resource.text} fileName={`${fileName}.txt`} label="Resource" />}
    </Fold>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed">
      <bdi>{children}</bdi>
    </Text>
  );
}

/** Whatever a machine wrote there, on one line. */
function line(text: unknown): string {
  return visibleLine(String(text).slice(0, 300));
}
