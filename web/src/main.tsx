/** The web app. */
import "./base/trusted-types.ts";
import "./base/nonce.ts";
import "./app/fonts-latin.css";
import "./app/mantine-shell.css";
import "./app/app.css";
import { CONSENT_PATH } from "@matrx/shared/pages.ts";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { ConsentDoor } from "./app/ConsentDoor.tsx";
import "./app/notification-taps.ts";
import "./app/proof-nonce.ts";
import { router } from "./app/router.tsx";
import { Themed } from "./app/Themed.tsx";
import { reloadOnMissingFile } from "./shell/release.ts";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no place for the app");

reloadOnMissingFile();
// Without one the app needs the network to start, and nothing else.
void import("./app/service-worker.ts")
  .then(({ startServiceWorker }) => startServiceWorker())
  .catch(() => undefined);

// A browser that cannot load it has letters of its own.
void import("./app/fonts-rest.css").catch(() => undefined);

const app = (
  <StrictMode>
    <Themed>
      {location.pathname === CONSENT_PATH ? <ConsentDoor /> : <RouterProvider router={router} />}
    </Themed>
  </StrictMode>
);
// In slices: a slow phone goes on answering its person meanwhile.
startTransition(() => createRoot(root).render(app));
