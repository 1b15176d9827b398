/** One operation: what it takes, what it answers, and a line to paste. */
import { Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { visibleLine } from "../../ui/visible-text.ts";
import { AnswerView } from "./AnswerView.tsx";
import { BodyView } from "./BodyView.tsx";
import { CurlView } from "./CurlView.tsx";
import type { OpenApi } from "./openapi.ts";
import type { Listed } from "./operations.ts";
import classes from "./Reference.module.css";
import { FieldItem } from "./SchemaView.tsx";
import { Words } from "./Words.tsx";

interface Props {
  readonly operation: Listed;
  readonly api: OpenApi;
}

/** The browser opens and closes it, and so does whoever leads to it; its content is made when it is open. */
export function OperationView({ operation, api }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { id, method, path, summary } = operation;
  return (
    <details id={id} className={classes.operation} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h3>
          <span className={classes.method} data-method={method}>
            {method.toUpperCase()}
          </span>
          <code>
            <bdi>{visibleLine(path)}</bdi>
          </code>{" "}
          <Words text={summary} />
        </h3>
      </summary>
      {isOpen && <OperationContent operation={operation} api={api} />}
    </details>
  );
}

function OperationContent({ operation, api }: Props) {
  const { id, description, parameters = [], requestBody, responses = {} } = operation;
  return (
    <div className={classes.inside}>
      {description !== undefined && (
        <Text size="sm">
          <Words text={description} />
        </Text>
      )}
      {parameters.length > 0 && (
        <Part title="Parameters">
          <ul className={classes.fields}>
            {parameters.map(({ in: place, ...parameter }) => (
              <FieldItem key={`${place} ${parameter.name}`} {...parameter} place={place} api={api} />
            ))}
          </ul>
        </Part>
      )}
      {requestBody?.content && (
        <Part title="Body">
          <BodyView contents={requestBody.content} what={`the body of ${id}`} api={api} />
        </Part>
      )}
      <CurlView operation={operation} />
      <Part title="Answers">
        {Object.entries(responses).map(([status, answer]) => (
          <AnswerView key={status} status={status} answer={answer} id={id} api={api} />
        ))}
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <h4>{title}</h4>
      {children}
    </>
  );
}
