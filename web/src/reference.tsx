/** The reference by itself, of the server that it comes from: without the app around it, and without its fonts. */
import "./base/trusted-types.ts";
import "./base/nonce.ts";
import "./app/mantine-shell.css";
import "./app/app.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Themed } from "./app/Themed.tsx";
import { ReferencePage } from "./features/reference/ReferencePage.tsx";
import { PlainFrame } from "./shell/PlainFrame.tsx";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no place for the reference");

createRoot(root).render(
  <StrictMode>
    <Themed>
      <PlainFrame>
        <ReferencePage />
      </PlainFrame>
    </Themed>
  </StrictMode>,
);
