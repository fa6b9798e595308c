#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The repository has the sources, which Node 24 runs as they are. The published package has what they are compiled to.
const sources = new URL('../cms/cms.ts', import.meta.url);
const compiled = new URL('../dist/cms.js', import.meta.url);
await import((existsSync(sources) ? sources : compiled).href);
