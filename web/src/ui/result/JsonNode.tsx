/** One value of JSON: a leaf in a line, or a branch that opens. */
import { UnstyledButton } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { plural } from "../format.ts";
import { visible } from "../terminal-text.ts";
import { visibleLine } from "../visible-text.ts";
import classes from "./JsonView.module.css";

/** Members that are shown at first, and added at a time. */
const MEMBERS = 100;
/** Characters of a text. */
const CHARS = 2_000;

interface Props {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
  readonly openDepth: number;
}

export function JsonNode(props: Props) {
  const { name, value } = props;
  if (typeof value !== "object" || value === null)
    return (
      <Line name={name}>
        <Leaf value={value} />
      </Line>
    );
  if (Object.keys(value).length === 0) return <Line name={name}>{Array.isArray(value) ? "[]" : "{}"}</Line>;
  return <Branch {...props} value={value} />;
}

function Branch({ name, value, depth, openDepth }: Props & { readonly value: object }) {
  const [isOpen, setOpen] = useState(depth < openDepth);
  const [shown, setShown] = useState(MEMBERS);
  const members = Object.entries(value);
  const rest = members.length - shown;
  return (
    <div>
      <UnstyledButton className={classes.branch} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <IconChevronRight size={14} aria-hidden className={classes.arrow} />
        {name !== undefined && <Name name={name} />}
        <span className={classes.count}>
          {plural(members.length, Array.isArray(value) ? "item" : "field")}
        </span>
      </UnstyledButton>
      {isOpen && (
        <div className={classes.members}>
          {members.slice(0, shown).map(([key, each]) => (
            <JsonNode key={key} name={key} value={each} depth={depth + 1} openDepth={openDepth} />
          ))}
          {rest > 0 && (
            <UnstyledButton className={classes.branch} onClick={() => setShown(shown + MEMBERS)}>
              Show {Math.min(MEMBERS, rest)} more of {rest.toLocaleString("en")}
            </UnstyledButton>
          )}
        </div>
      )}
    </div>
  );
}

function Line({ name, children }: { name: string | undefined; children: ReactNode }) {
  return (
    <div className={classes.leaf}>
      {name !== undefined && <Name name={name} />}
      {children}
    </div>
  );
}

function Name({ name }: { name: string }) {
  return (
    <span className={classes.name}>
      <bdi>{visibleLine(name.slice(0, 200))}</bdi>:{" "}
    </span>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value !== "string") return <span className={classes.plain}>{String(value)}</span>;
  const isCut = value.length > CHARS;
  return (
    <span className={classes.text}>
      <bdi>{visible(isCut ? value.slice(0, CHARS) : value)}</bdi>
      {isCut && <span className={classes.count}> … {value.length.toLocaleString("en")} characters</span>}
    </span>
  );
}
