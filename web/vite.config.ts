/** Builds the app into dist/web/. `npm run build` then adds the pages of `static/` (scripts/web-bundle.ts). */
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: join(import.meta.dirname, "../dist/web"),
    target: "es2023",
    // Inlined files would need `data:` in the Content-Security-Policy for scripts and fonts.
    assetsInlineLimit: 0,
    // Every browser that runs the app knows it.
    modulePreload: { polyfill: false },
    manifest: true,
    license: { fileName: ".vite/licences.json" },
    rolldownOptions: {
      // The second is the local server's: the reference without the app.
      input: ["index.html", "reference.html"].map((name) => join(import.meta.dirname, name)),
    },
    reportCompressedSize: false,
  },
});
