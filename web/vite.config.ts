import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const SERVER = process.env.TESUJI_SERVER ?? "http://127.0.0.1:8000";

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
    proxy: { "/api": { target: SERVER, ws: true } },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
