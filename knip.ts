import { readFileSync } from 'node:fs';
import type { KnipConfig } from 'knip';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

const config: KnipConfig = {
  workspaces: {
    '.': {
      entry: [
        'functions/**/*.ts',
        // What cdk.json and package.json start. Knip finds what is started without `exec` itself.
        'infra/app.ts',
        ...Object.values(scripts).flatMap((script) => script.match(/(?<=exec node )(?!packages|tools\/pack).+\.ts/g) ?? []),
        // What the code starts as a process of its own.
        'gateway/main.ts',
        'gateway/**/{issue-certificate,start-bundle}.ts',
        'test/rehearse/{changed-app,aws-redirect,send-mail}.ts',
        'test/agents/relay.ts',
        'test/packages/simulated-cvm/make-test-machine.ts',
        'test/support/run-gateway.ts',
      ],
      project: ['**/*.ts'],
    },
    'packages/client': { project: ['**/*.ts'] },
    'packages/console': { entry: ['help/search.ts'] },
    'packages/cms': { project: ['**/*.ts'] },
  },
  vitest: { config: ['vitest*.config.ts', 'test/{deployed,mutants}/vitest.config.ts'], entry: ['test/**/*.{test,deployed}.ts'] },
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreBinaries: ['go', 'mount', 'nsenter', 'script', 'ssh-agent', 'ssh-keygen', 'umount', 'unshare'],
  ignoreDependencies: ['axe-core', 'fs-native-extensions', 'swagger-ui-dist'],
};

export default config;
