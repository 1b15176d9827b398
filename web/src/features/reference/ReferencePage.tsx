/** The reference: /openapi.json of the server that this page comes from, to be read and searched. */
import "../../ui/mantine-rest.css";
import { Button, Loader, Text, TextInput, Title } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useCallback, useId, useMemo, useState } from "react";
import { Page } from "../../ui/Page.tsx";
import { Problem } from "../../ui/Problem.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { Contents } from "./Contents.tsx";
import { Introduction } from "./Introduction.tsx";
import { OperationView } from "./OperationView.tsx";
import type { OpenApi } from "./openapi.ts";
import { countOf, type Group, groupsOf, matching } from "./operations.ts";
import classes from "./Reference.module.css";
import { useAddressed } from "./use-addressed.ts";
import { useDescription } from "./use-description.ts";
import { Words } from "./Words.tsx";

export function ReferencePage() {
  const { api, error, retry } = useDescription();
  const server = api?.info?.title;
  const title = server === undefined ? "Reference" : `Reference: ${visibleLine(server)}`;
  return (
    <Page
      title={title}
      about="Every request that programs can make, with what it takes and what it answers"
      actions={
        <Button component="a" href="/openapi.json" size="sm" variant="default">
          openapi.json
        </Button>
      }
    >
      {error !== undefined && <Problem error={error} retry={retry} />}
      {api ? <Reference api={api} /> : error === undefined && <Loader size="sm" />}
    </Page>
  );
}

function Reference({ api }: { api: OpenApi }) {
  const [text, setText] = useState("");
  const groups = useMemo(() => groupsOf(api), [api]);
  const shown = useMemo(() => matching(groups, text), [groups, text]);
  useAddressed(useCallback(() => setText(""), []));
  return (
    <div className={classes.reference}>
      <div className={classes.aside}>
        <TextInput
          type="search"
          label="Filter"
          placeholder="Words of a request"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Text size="sm" c="dimmed" role="status">
          {countWords(countOf(shown), countOf(groups))}
        </Text>
        <Contents groups={shown} />
      </div>
      <div className={classes.body}>
        <Introduction api={api} />
        {shown.map((group) => (
          <GroupView key={group.name} group={group} api={api} />
        ))}
      </div>
    </div>
  );
}

function countWords(shown: number, all: number): string {
  if (shown === 0) return "No operation has these words.";
  return shown === all ? `${all} operations` : `${shown} of ${all} operations`;
}

function GroupView({ group: { name, about, operations }, api }: { group: Group; api: OpenApi }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Title order={2} id={id}>
        <Words text={name} />
      </Title>
      {about && (
        <Text size="sm" c="dimmed">
          <Words text={about} />
        </Text>
      )}
      {operations.map((operation) => (
        <OperationView key={operation.id} operation={operation} api={api} />
      ))}
    </section>
  );
}
