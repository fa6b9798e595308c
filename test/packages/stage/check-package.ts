import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm run check:stage`: packs the stage as it is published, unpacks it in a fresh project that has the CDK and nothing else of this
 * repository, checks the types of the sample there, and synthesizes it.
 */
const repository = join(import.meta.dirname, '../../..');
const source = join(repository, 'packages/stage');
const project = mkdtempSync(join(tmpdir(), 'stage-package-'));
const run = (args: string[], cwd = project) => execFileSync(process.execPath, args, { cwd, stdio: 'inherit' });
try {
  run(['build.ts'], source);
  execFileSync('npm', ['pack', '--pack-destination', project], { cwd: join(source, 'dist'), stdio: 'ignore' });
  const [packed = ''] = readdirSync(project);
  const installed = join(project, 'node_modules/computation-management-stage');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', packed, '--strip-components=1', '-C', installed], { cwd: project });
  mkdirSync(join(project, 'node_modules/@types'));
  for (const name of ['aws-cdk-lib', 'constructs', '@types/node', 'undici-types'])
    symlinkSync(join(repository, 'node_modules', name), join(project, 'node_modules', name));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  copyFileSync(join(installed, 'sample/pipeline.ts'), join(project, 'pipeline.ts'));
  writeFileSync(
    join(project, 'app.ts'),
    "import { App } from 'aws-cdk-lib';\nimport { pipelineIn } from './pipeline.ts';\nconst app = new App({ outdir: 'cdk.out' });\npipelineIn(app);\napp.synth();\n",
  );
  const types = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions', '--types', 'node'];
  run([join(repository, 'node_modules/typescript/bin/tsc'), '--module', 'nodenext', '--target', 'es2024', ...types, 'app.ts']);
  run(['app.ts']);
  const templates = readdirSync(join(project, 'cdk.out'), { recursive: true }).filter((name) =>
    String(name).endsWith('.template.json'),
  );
  if (templates.length < 11) throw new Error(`The sample has ${templates.length} templates; expected 11 or more.`);
  console.log(`The package of ${packed} synthesizes its sample: ${templates.length} templates.`);
} finally {
  rmSync(project, { recursive: true, force: true });
}
