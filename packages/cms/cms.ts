#!/usr/bin/env node
import { neverProxyLoopback } from 'computation-management-client/node';
import description from './package.json' with { type: 'json' };
import { proxyVariable } from './context/target.ts';
import { processTerminal } from './terminal/terminal.ts';
import { runCms } from './run-cms.ts';

const terminal = processTerminal();
if (proxyVariable(terminal.env) !== undefined) neverProxyLoopback({ ...terminal.env, NODE_USE_ENV_PROXY: '1' });
process.exitCode = await runCms(process.argv.slice(2), terminal, description.version);
