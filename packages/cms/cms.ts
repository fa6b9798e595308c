import { readFileSync } from 'node:fs';
import { neverProxyLoopback } from 'computation-management-client/node';
import { processTerminal } from './terminal/terminal.ts';
import { runCms } from './run-cms.ts';

const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

const terminal = processTerminal();
neverProxyLoopback(terminal.env);
process.exitCode = await runCms(process.argv.slice(2), terminal, version);
