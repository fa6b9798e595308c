#!/usr/bin/env node
// The repository has the sources, which Node 24 runs as they are. dist/bin/cms.js is what is published.
await import('../cms.ts');
