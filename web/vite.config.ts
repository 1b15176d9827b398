/** Builds the app into dist/web/; what `npm run build` does besides is in scripts/web-bundle.ts and reference-bundle.ts. */
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Of the colours that Mantine comes with, these are none of the theme's; their variables would be in the first load. */
const UNUSED_COLOURS = /^--mantine-color-(?:pink|grape|violet|indigo|cyan|teal|lime|orange)-/;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: {
    // React has it by itself since version 18; half of the package stands in for it in older ones.
    alias: [{ find: /^use-sync-external-store\/shim$/, replacement: "react" }],
  },
  css: {
    postcss: {
      plugins: [
        {
          postcssPlugin: "unused-colours",
          Declaration(declaration) {
            if (UNUSED_COLOURS.test(declaration.prop)) declaration.remove();
          },
        },
      ],
    },
  },
  build: {
    outDir: join(import.meta.dirname, "../dist/web"),
    target: "es2023",
    // Inlined files would need `data:` in the Content-Security-Policy for scripts and fonts.
    assetsInlineLimit: 0,
    // Every browser that runs the app knows it.
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // The first load names every other file, and letters that mean nothing are not compressed.
        entryFileNames: "assets/[name]-[hash:7].js",
        chunkFileNames: "assets/[name]-[hash:7].js",
        assetFileNames: "assets/[name]-[hash:7][extname]",
        // What the app loads first is one file: what pages use of it, too, would be files of their own, and 5 kB more.
        codeSplitting: {
          groups: [
            { name: "frame", tags: ["$initial"], priority: 1 },
            // What nearly every page of a machine needs is one file, too, with what it needs itself.
            {
              name: "machine",
              test: /src[\\/](?:machine[\\/]OfMachine|features[\\/]page-tools[\\/]with-page-tools)\./,
            },
            { name: "icons", test: /@tabler[\\/]icons-react/ },
          ],
        },
      },
    },
  },
});
