/** What a file is shown as: by its name, and by its first bytes. */
import { Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense } from "react";
import { Waiting } from "../../../ui/Waiting.tsx";
import { kindOf } from "../kinds.ts";
import { BytesView } from "./BytesView.tsx";
import { encodingOf, type Shown } from "./head.ts";
import { ImageView } from "./ImageView.tsx";
import { MediaView } from "./MediaView.tsx";
import { OlderText } from "./OlderText.tsx";
import classes from "./Preview.module.css";
import { TextView } from "./TextView.tsx";

const MarkdownView = lazy(async () => ({ default: (await import("./MarkdownView.tsx")).MarkdownView }));
const PdfView = lazy(async () => ({ default: (await import("./PdfView.tsx")).PdfView }));

export function Content(shown: Shown) {
  return <Suspense fallback={<Waiting />}>{viewOf(shown)}</Suspense>;
}

function viewOf(shown: Shown): ReactNode {
  const { name, head } = shown;
  if (head.size === 0) return <Text className={classes.words}>This file is empty.</Text>;
  const kind = kindOf(name);
  if (kind === "image") return <ImageView {...shown} />;
  if (kind === "audio" || kind === "video") return <MediaView {...shown} kind={kind} />;
  if (kind === "pdf") return <PdfView {...shown} />;
  const encoding = encodingOf(head);
  if (encoding === undefined || kind === "archive") return <BytesView head={head} />;
  if (kind === "markdown" && encoding === "utf-8") return <MarkdownView {...shown} />;
  if (encoding === "windows-1252") return <OlderText {...shown} />;
  return <TextView {...shown} encoding={encoding} />;
}
