import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from './vitest.base.config.ts';

// The processes of the tests, and those that they start, compile each module once: a service starts with half the work.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node-compile');

/** Files that use neither the environment nor other state of their process share processes, and what those have imported. */
const sharing = [
  'test/shared/**/*.test.ts',
  'test/support/**/*.test.ts',
  'test/tools/mutants/*.test.ts',
  'test/docs/*.test.ts',
  'test/contract/*.test.ts',
  'test/packages/verify/*.test.ts',
  'test/packages/client/{calls/{asset-without-reading,pages,retrying-fetch},tokens/tokens}.test.ts',
  'test/packages/client/transfer/*.test.ts',
  'test/packages/cms/{completion,login,output,sign-approval}.test.ts',
  'test/concurrency/{approvals-at-once,deleted-inputs,hot-domain,lost-updates,store-model,sweep-quota}.test.ts',
  'test/infra/{console,operations,reference,rehearse,simulated-cvms,state}/*.test.ts',
  'test/local/{pages/console-pages,functions/background,http-api/cors}.test.ts',
  'test/local/dynamodb/table-expiry.test.ts',
  // They synthesize the same stages with the CDK, whose import takes 2 s.
  'test/infra/service-stage.test.ts',
  'test/infra/**/{canary-stack,gateway-stack,service-stack,stage-bus}.test.ts',
];

/** Files that these patterns match but that change the environment or the output of their process, or are slow in a shared one. */
const exceptions = [
  'test/contract/linters.test.ts',
  'test/packages/simulated-cvm/simulated-cvms.test.ts',
  'test/shared/deletion/begin-purge.test.ts',
  'test/shared/runtime/environment.test.ts',
  'test/shared/evidence/read-evidence.test.ts',
  'test/shared/http/change-endpoint.test.ts',
  'test/shared/runtime/log.test.ts',
  'test/shared/runtime/metrics.test.ts',
  'test/shared/runs/executions.test.ts',
  'test/shared/runs/record-reports.test.ts',
  'test/shared/waits/wait.test.ts',
];

/** These use one service for all files of a process, each file in domains of its own. */
const endToEnd = ['test/e2e/**/*.test.ts'];

/**
 * Files that leave their process as they found it: they stop what they start, and undo spies (test/support/as-found.ts undoes the rest). They
 * run one after the other in a process that has already imported the service.
 */
const services = [
  'test/access/*.test.ts',
  'test/packages/client/{package,story,calls/service-problem,node/send-content,node/transfers}.test.ts',
  'test/packages/cms/{approval-hints,cut-short,errors,events,init,transfers}.test.ts',
  'test/concurrency/{at-once,aws-front,links-at-once,repeats-at-once,watchers}.test.ts',
  'test/gateway/{certificates,clocks,connections,identity,logs,metrics,pending-messages,reports,restarts,runs,two-gateways}.test.ts',
  'test/infra/bus/*.test.ts',
  'test/functions/operations/canary/{canary-handler,clear-domain,password-sign-in,run-canary}.test.ts',
  'test/tools/commands/*.test.ts',
  'test/local/{continued-deletion,interrupted-deletions,stack,stacks-in-turn,waits}.test.ts',
  'test/local/{dynamodb/*,functions/*,http-api/*,machine/*,s3/*,step-functions/*}.test.ts',
  'test/infra/service/uses.test.ts',
  'test/lifecycle/*.test.ts',
  'test/readme.test.ts',
];

/** Components with JSX and style sheets, which Vite has to change. */
const components = ['test/packages/console/**/*.test.ts'];

const without = (...files: string[]) => [...configDefaults.exclude, ...files];

/** Projects that cover every file once. */
export const projects = [
  { test: { ...base.test, name: 'alone', isolate: true, exclude: without(...sharing, ...services, ...endToEnd, ...components) } },
  {
    test: {
      ...base.test,
      name: 'services',
      isolate: false,
      include: services,
      exclude: without(...sharing),
      setupFiles: ['test/support/as-found.ts'],
    },
  },
  { test: { ...base.test, name: 'exceptions', isolate: true, include: exceptions } },
  { test: { ...base.test, name: 'sharing', isolate: false, include: sharing, exclude: without(...exceptions) } },
  {
    test: { ...base.test, name: 'e2e', isolate: false, include: endToEnd, globalSetup: ['test/support/scan-after-suite.ts'] },
  },
  { test: { ...base.test, name: 'console', isolate: false, include: components, experimental: {} } },
];

/**
 * Vitest runs the longest files of a project first, at the same time, and the largest ones first if it does not know how long they take.
 * Those of the gateway mostly wait: each is followed by others, which use the processor meanwhile.
 */
class GatewayFilesApart extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ofServices = sorted.filter(({ project }) => project.name === 'services');
    const ofGateway = ofServices.filter(({ moduleId }) => moduleId.includes('/test/gateway/'));
    const others = ofServices.filter((file) => !ofGateway.includes(file));
    const places = [...placed(ofGateway), ...placed(others)].sort((a, b) => a.place - b.place);
    const next = places.map(({ file }) => file).values();
    return sorted.map((file) => (ofServices.includes(file) ? (next.next().value ?? file) : file));
  }
}

/** Spreads files evenly over the places from 0 to 1. */
function placed(files: TestSpecification[]): { file: TestSpecification; place: number }[] {
  return files.map((file, at) => ({ file, place: at / files.length }));
}

/** The tests. */
export default defineConfig({ test: { projects, sequence: { sequencer: GatewayFilesApart } } });
