/** The settings: a list of parts beside the part that is open; on a phone one after the other. */
import "../../ui/mantine-rest.css";
import { Loader, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconChevronLeft } from "@tabler/icons-react";
import { Link, Navigate, useParams } from "@tanstack/react-router";
import { Suspense } from "react";
import { Page } from "../../ui/Page.tsx";
import { PartList } from "./PartList.tsx";
import { PARTS, type Part } from "./parts.ts";
import classes from "./SettingsPage.module.css";

export function SettingsPage() {
  const { part: id } = useParams({ strict: false });
  const isPhone = useMediaQuery("(max-width: 767px)", undefined, { getInitialValueInEffect: false });
  if (id === undefined && isPhone)
    return (
      <Page title="Settings">
        <PartList />
      </Page>
    );
  if (id === undefined) return <Navigate to="/settings/$part" params={{ part: "account" }} replace />;
  const part = PARTS.find((one) => one.id === id);
  return (
    <div className={classes.settings}>
      {isPhone ? (
        <Link to="/settings" className={classes.back}>
          <IconChevronLeft size={18} aria-hidden />
          All settings
        </Link>
      ) : (
        <PartList />
      )}
      <div className={classes.part}>{part ? <OpenPart part={part} /> : <NoSuchPart />}</div>
    </div>
  );
}

function OpenPart({ part: { id, label, about, Content } }: { part: Part }) {
  return (
    <Page title={label} about={about}>
      <Suspense key={id} fallback={<Loader size="sm" />}>
        <Content />
      </Suspense>
    </Page>
  );
}

function NoSuchPart() {
  return (
    <Page title="There is no such setting">
      <Text>
        Go to <Link to="/settings">all settings</Link>.
      </Text>
    </Page>
  );
}
