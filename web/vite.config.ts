import { readFileSync } from "node:fs";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { loadEnv, type Plugin } from "vite";
import { defineConfig } from "vitest/config";

// PLAINZERO_SERVER=http://127.0.0.1:8420 npm run dev: where a server answers while the page is written.
const { PLAINZERO_SERVER: server = "http://127.0.0.1:8420" } = loadEnv("", ".", "PLAINZERO_");

/** The reader of the API's description, served by us: it works without internet. */
function swagger(): Plugin {
  return {
    name: "swagger",
    apply: "build",
    generateBundle() {
      for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"]) {
        const source = readFileSync(`node_modules/swagger-ui-dist/${name}`);
        this.emitFile({ type: "asset", fileName: `docs/${name}`, source });
      }
    },
  };
}

export default defineConfig({
  base: "./", // the page works under any prefix
  plugins: [svelte(), swagger()],
  build: {
    outDir: "../src/plainzero/server/page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // a strict Content-Security-Policy allows no data: addresses
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/api": { target: server, ws: true } },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node", css: true },
});
