/** Markdown as it is meant, or as it is written. Nothing in it runs, and nothing is loaded for it. */
import { Anchor, Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ComponentProps, useState } from "react";
import Markdown from "react-markdown";
import gfm from "remark-gfm";
import { scrolled } from "../../../ui/scrolled.ts";
import { joined, nameOf, parentOf, splatOf } from "../paths.ts";
import type { Shown } from "./head.ts";
import classes from "./Preview.module.css";
import { TextView } from "./TextView.tsx";

export function MarkdownView(shown: Shown) {
  const [isSource, setSource] = useState(false);
  const { file, head } = shown;
  const isWhole = head.bytes.length >= head.size;
  return (
    <>
      {isSource || !isWhole ? (
        <TextView {...shown} encoding="utf-8" />
      ) : (
        <div className={classes.markdown} {...scrolled("Content of the file")}>
          <Markdown
            remarkPlugins={[gfm]}
            components={{
              a: ({ href, children }: ComponentProps<"a">) => (
                <Target file={file} href={href ?? ""}>
                  {children}
                </Target>
              ),
              img: ({ alt }: ComponentProps<"img">) => <em>[image: {alt || "without a description"}]</em>,
              input: ({ checked }: ComponentProps<"input">) => <span>{checked ? "☑" : "☐"}</span>,
            }}
          >
            {new TextDecoder().decode(head.bytes)}
          </Markdown>
        </div>
      )}
      <div className={classes.foot}>
        <Text size="sm" c="dimmed">
          {isWhole ? "Images are not loaded." : "Too long to be shown as Markdown."}
        </Text>
        {isWhole && (
          <Button size="xs" variant="default" onClick={() => setSource(!isSource)}>
            {isSource ? "As Markdown" : "As it is written"}
          </Button>
        )}
      </div>
    </>
  );
}

interface TargetProps extends Pick<Shown, "file"> {
  readonly href: string;
  readonly children: ComponentProps<"a">["children"];
}

/** Another file of the machine is shown here; other sites get a tab, and do not learn where it was. */
function Target({ file: { device, path }, href, children }: TargetProps) {
  if (/^https?:/i.test(href))
    return (
      <Anchor href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </Anchor>
    );
  const [relative = ""] = href.split(/[?#]/);
  if (relative === "" || /^[a-z]+:|^\/\//i.test(relative)) return <span>{children}</span>;
  const to = resolved(parentOf(path) ?? "/", relative);
  const isFolder = relative.endsWith("/") || parentOf(to) === undefined;
  return (
    <Link
      to="/d/$device/files/$"
      params={{ device, _splat: splatOf(isFolder ? to : (parentOf(to) ?? "/")) }}
      search={isFolder ? {} : { file: nameOf(to) }}
    >
      {children}
    </Link>
  );
}

function resolved(folder: string, relative: string): string {
  let at = relative.startsWith("/") ? "/" : folder;
  for (const part of safelyDecoded(relative).split("/")) {
    if (part === "..") at = parentOf(at) ?? "/";
    else if (part !== "" && part !== ".") at = joined(at, part);
  }
  return at;
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
