/** News at the edge of the screen. What was done goes by itself, a problem stays until it is closed. */
import { IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import { dismiss, type Notice, useNotices } from "../ui/notices.ts";
import classes from "./Notices.module.css";

const SHOWN_FOR = 6_000;

export function Notices() {
  const notices = useNotices((state) => state.notices);
  return (
    <div className={classes.notices} role="status" aria-live="polite" aria-label="News">
      {notices.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function NoticeCard({ notice: { id, kind, text, hint } }: { notice: Notice }) {
  useEffect(() => {
    if (kind === "problem") return;
    const timer = setTimeout(() => dismiss(id), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [id, kind]);
  return (
    <div className={classes.notice} data-kind={kind}>
      <div>
        <div>{text}</div>
        {hint && <div className={classes.hint}>{hint}</div>}
      </div>
      <button
        type="button"
        className={classes.close}
        aria-label="Close this message"
        onClick={() => dismiss(id)}
      >
        <IconX size={16} aria-hidden />
      </button>
    </div>
  );
}
