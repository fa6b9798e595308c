import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { type FunctionName, variablesOf } from '../../infra/service/functions.ts';
import type { LoadHandler } from '../../local/functions/local-functions.ts';
import type { StackOptions } from '../../local/stack.ts';
import { serveKms } from './answering-aws.ts';
import { serveExecutions } from './simulated-step-functions.ts';
import { environment } from '../../shared/runtime/environment.ts';

type Handler = Awaited<ReturnType<LoadHandler>>;

/**
 * Returns what makes a stack load functions from their bundles. They call KMS and Step Functions over HTTP. Each function sees only those
 * variables of the service that its deployment sets.
 */
export function bundledFunctions(folder: string): Pick<StackOptions, 'load' | 'intercept'> {
  const running = new AsyncLocalStorage<string>();
  hideVariables((variable) => {
    const name = running.getStore();
    return name !== undefined && isOfService(variable) && !variablesOf(name as FunctionName).some((given) => given === variable);
  });
  let kms: Promise<unknown> | undefined;
  const load: LoadHandler = async (name) => {
    await (kms ??= serveKms().then(({ endpoint }) => (process.env['AWS_ENDPOINT_URL_KMS'] = endpoint)));
    const { handler } = (await import(/* @vite-ignore */ join(folder, name, 'index.mjs'))) as { handler: Handler };
    return (event, context) => running.run(name, () => handler(event, context));
  };
  return { load, intercept: serveExecutions };
}

function isOfService(variable: string): boolean {
  return Object.hasOwn(environment(), variable) && variable !== 'AWS_REGION'; // Lambda sets the region
}

function hideVariables(isHidden: (variable: string) => boolean): void {
  // A copy, because the original does not work behind a proxy.
  process.env = new Proxy<NodeJS.ProcessEnv>(
    { ...process.env },
    { get: (variables, name) => (typeof name === 'string' && !isHidden(name) ? variables[name] : undefined) },
  );
}
