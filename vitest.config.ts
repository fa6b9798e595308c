import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from './vitest.base.config.ts';

// The processes of the tests, and those that they start, compile each module once: a service starts with half the work.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node-compile');
process.env['TEST_SEED'] ??= String(Math.floor(Math.random() * 1_000)); // all processes take the same sample
process.env['GOGC'] ??= '400'; // esbuild collects its garbage less often: a quarter less processor time

/**
 * Files that start a service, or change the environment, the output or other state of their process. They stop what they start, and
 * test/support/as-found.ts undoes the rest. They run one after the other in a process that has already imported the service.
 */
const services = 'test/**/*.service.test.ts';
/** The end-to-end tests. They use one service for all files of a process, each file in domains of its own. */
const endToEnd = 'test/e2e/**/*.test.ts';
/** The tests in a browser. Each starts the browser, and what it opens, in a process of its own. */
const browser = 'test/browser/*.test.ts';
/** Components with JSX and style sheets, which Vite has to change. */
const components = 'test/packages/console/**/*.test.ts';

/** Every file is in one project. The others use neither the environment nor other state of their process, and share processes. */
export const projects = [
  { test: { ...base.test, name: 'browser', isolate: true, include: [browser], globalSetup: ['test/browser/build-once.ts'] } },
  { test: { ...base.test, name: 'services', isolate: false, include: [services], setupFiles: ['test/support/as-found.ts'] } },
  {
    test: {
      ...base.test,
      name: 'sharing',
      isolate: false,
      globalSetup: ['test/support/share-work.ts'],
      exclude: [...configDefaults.exclude, browser, services, endToEnd, components],
    },
  },
  {
    test: {
      ...base.test,
      name: 'e2e',
      isolate: false,
      include: [endToEnd],
      globalSetup: ['test/support/build-bundles.ts', 'test/support/scan-after-suite.ts'],
    },
  },
  { test: { ...base.test, name: 'console', isolate: false, include: [components], experimental: {} } },
];

/** Files that take long although they are small, besides those of the browser. */
const long =
  /\/test\/(?:faults|tools\/(?:demo|packed-service)|gateway\/(?:holds|restarts)|infra\/bundles\/bundle-functions|local\/attested-cvms|packages\/verify\/package|shared\/rows\/content-store)/;

/**
 * Vitest runs the longest files of a project first, at the same time, and the largest ones first if it does not know how long they take.
 * Those of the browser take longest, and are small.
 * Those of the gateway mostly wait: each is followed by others, which use the processor meanwhile.
 */
class GatewayFilesApart extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => (project.name === 'browser' ? 2 : Number(long.test(moduleId)));
    const sorted = (await super.sort(files)).sort((a, b) => rank(b) - rank(a));
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
