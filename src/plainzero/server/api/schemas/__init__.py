"""Everything that goes over the wire, typed once; `web/src/api/schema.ts` is made from it."""
