/** One answer of an operation. Errors all have the shape that the page shows once, so theirs is a line. */
import { Fold } from "../../ui/Fold.tsx";
import { BodyView } from "./BodyView.tsx";
import type { Answer, OpenApi } from "./openapi.ts";
import classes from "./Reference.module.css";
import { FieldItem } from "./SchemaView.tsx";
import { resolved } from "./schema.ts";
import { Words } from "./Words.tsx";

const PROBLEM = "application/problem+json";

interface Props {
  readonly status: string;
  readonly answer: Answer;
  /** The operation's id. */
  readonly id: string;
  readonly api: OpenApi;
}

export function AnswerView({ status, answer, id, api }: Props) {
  const { description, headers = {}, content = {} }: Answer = resolved(answer, api);
  const { [PROBLEM]: _, ...contents } = content;
  const title = (
    <span>
      <strong>{status}</strong> <Words text={description} />
    </span>
  );
  if (Object.keys(contents).length === 0) return <p className={classes.answer}>{title}</p>;
  return (
    <Fold title={title}>
      {() => (
        <div className={classes.inside}>
          <ul className={classes.fields}>
            {Object.entries(headers).map(([name, header]) => (
              <FieldItem key={name} name={name} place="header" {...header} api={api} />
            ))}
          </ul>
          <BodyView contents={contents} what={`answer ${status} of ${id}`} api={api} />
        </div>
      )}
    </Fold>
  );
}
