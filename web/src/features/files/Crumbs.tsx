/** The way from the root to the folder. */
import { Link } from "@tanstack/react-router";
import { Fragment, useEffect, useRef } from "react";
import { visibleLine } from "../../ui/visible-text.ts";
import classes from "./Files.module.css";
import { HOME, splatOf, stepsTo } from "./paths.ts";

export function Crumbs({ device, path }: { device: string; path: string }) {
  const steps = path === HOME ? [{ name: "Home", path: HOME }] : stepsTo(path);
  const list = useRef<HTMLElement>(null);
  // Of a long way, the end counts.
  useEffect(() => {
    if (list.current && path) list.current.scrollLeft = list.current.scrollWidth;
  }, [path]);
  return (
    <nav ref={list} className={classes.crumbs} aria-label="Folder">
      {steps.map((step, at) => (
        <Fragment key={step.path}>
          {at > 1 && <span aria-hidden>/</span>}
          <Link
            to="/d/$device/files/$"
            params={{ device, _splat: splatOf(step.path) }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            <bdi>{visibleLine(step.name)}</bdi>
          </Link>
        </Fragment>
      ))}
    </nav>
  );
}
