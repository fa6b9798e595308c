#!/usr/bin/env node
import description from './package.json' with { type: 'json' };
import { processTerminal } from './terminal/terminal.ts';
import { runCms } from './run-cms.ts';

process.exitCode = await runCms(process.argv.slice(2), processTerminal(), description.version);
