import { svelte } from "@sveltejs/vite-plugin-svelte";
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

// TESUJI_SERVER=http://127.0.0.1:8000 npm run dev: where a server answers while the page is written.
const { TESUJI_SERVER: server = "http://127.0.0.1:8000" } = loadEnv("", ".", "TESUJI_");

export default defineConfig({
  base: "./", // the page works under any prefix
  plugins: [svelte()],
  build: {
    outDir: "../src/tesuji/server/page",
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
