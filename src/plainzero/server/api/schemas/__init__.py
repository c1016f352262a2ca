"""The messages of the API; `web/src/api/schema.ts` is generated from them."""
