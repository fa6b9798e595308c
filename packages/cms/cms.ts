import { neverProxyLoopback } from 'computation-management-client/node';
import description from './package.json' with { type: 'json' };
import { processTerminal } from './terminal/terminal.ts';
import { runCms } from './run-cms.ts';

const terminal = processTerminal();
neverProxyLoopback(terminal.env);
process.exitCode = await runCms(process.argv.slice(2), terminal, description.version);
