import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { stages } from '../../infra/stages/stages.ts';

const root = join(import.meta.dirname, '../..');

interface Job {
  environment?: string | { name: string };
  uses?: string;
  with?: Record<string, string>;
}

interface Workflow {
  file: string;
  on: Record<string, Record<string, string[]> | null>;
  jobs: Record<string, Job>;
}

const folder = '.github/workflows';
const workflows = readdirSync(join(root, folder)).map((file): Workflow => {
  const { on, ...rest } = parse(readFileSync(join(root, folder, file), 'utf8')) as Omit<Workflow, 'on'> & { on: unknown };
  const triggers = typeof on === 'string' ? [on] : on;
  return {
    ...rest,
    file,
    on: Array.isArray(triggers) ? Object.fromEntries(triggers.map((name: string) => [name, null])) : (triggers as Workflow['on']),
  };
});

/** Returns whether something else than a push to main, or the default branch's schedule, starts a workflow. */
function isStartedElsewhere({ on }: Workflow): boolean {
  return Object.entries(on).some(([trigger, filter]) => {
    if (trigger === 'schedule' || trigger === 'workflow_call') return false;
    return !(trigger === 'push' && JSON.stringify(filter) === JSON.stringify({ branches: ['main'] }));
  });
}

/** Returns the jobs of a workflow and of those that it calls, as `file > job`. */
function jobsOf({ file, jobs }: Workflow): [string, Job][] {
  return Object.entries(jobs).flatMap(([name, job]): [string, Job][] => {
    const called = workflows.find((each) => job.uses === `./${folder}/${each.file}`);
    return [[`${file} > ${name}`, job], ...(called ? jobsOf(called) : [])];
  });
}

const environments = stages.flatMap(({ name }) => [name, `${name}-diff`]);

function environmentOf({ environment }: Job): string | undefined {
  return typeof environment === 'object' ? environment.name : environment;
}

/** Returns whether a job asks for credentials of AWS, or runs in the environment of a stage, which has a role's name. */
function reachesAws(job: Job): boolean {
  const environment = environmentOf(job);
  const isOfStage = environment !== undefined && (environment.includes('${{') || environments.includes(environment));
  return isOfStage || /aws-actions\/|role-to-assume|_ROLE\b|AWS_/.test(JSON.stringify(job));
}

interface Statement {
  Effect: string;
  Principal?: unknown;
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, string>>;
}

const page = readFileSync(join(root, 'docs/delivery.md'), 'utf8');

/** Returns the statements of the policy that follows a phrase of the page. */
function policyAfter(phrase: string): Statement[] {
  const [before, after = ''] = page.split(phrase);
  if (before === page) throw new Error(`docs/delivery.md does not say: ${phrase}`);
  const [, json = ''] = /```json\n(.*?)```/s.exec(after) ?? [];
  return (JSON.parse(json) as { Statement: Statement[] }).Statement;
}

const trust = policyAfter('The trust policy of each');
const ofDeployment = policyAfter('The permissions of the role that deploys');
const ofComparison = policyAfter('The permissions of the role that compares');

const placeholders: Record<string, string> = { account: '111122223333', region: 'eu-central-1', stage: 'prod' };

/** Returns whether the statements allow an action on a resource, as IAM compares them. */
function allows(statements: Statement[], action: string, resource: string): boolean {
  const filled = (text: string) => text.replace(/<(\w+)>/g, (_, name: string) => placeholders[name] ?? '');
  const fits = (pattern: string, text: string) => {
    const escaped = filled(pattern).replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(text);
  };
  return statements.some(
    ({ Effect, Action, Resource }) =>
      Effect === 'Allow' &&
      [Action].flat().some((pattern) => fits(pattern, action)) &&
      [Resource].flat().some((pattern) => fits(pattern, resource)),
  );
}

const roleOfBootstrap = (name: string) => `arn:aws:iam::111122223333:role/cdk-hnb659fds-${name}-111122223333-eu-central-1`;

describe('the delivery', () => {
  it('starts no job with a role of AWS from another branch than main', () => {
    const started = workflows.filter(isStartedElsewhere).flatMap(jobsOf);
    expect(started.map(([name]) => name)).toContain('check.yml > check');
    expect(started.filter(([, job]) => reachesAws(job)).map(([name]) => name)).toEqual([]);
  });

  it('deploys each stage in its own environments, which have no other job', () => {
    const ofMain = workflows.filter((workflow) => !isStartedElsewhere(workflow)).flatMap(({ jobs }) => Object.entries(jobs));
    const inEnvironment = ofMain.flatMap(([name, job]) => [[name, environmentOf(job)]].filter(([, environment]) => environment));
    expect(Object.fromEntries(inEnvironment)).toEqual({ diff: '${{ inputs.stage }}-diff', deploy: '${{ inputs.stage }}' });
    const called = ofMain.filter(([, { uses }]) => uses === `./${folder}/deploy-stage.yml`);
    expect(called.map(([, job]) => job.with?.['stage'])).toEqual(stages.map(({ name }) => name));
  });

  it('compares templates, for which the CLI needs no role of the bootstrap', () => {
    expect(readFileSync(join(root, folder, 'deploy-stage.yml'), 'utf8')).toMatch(/npx cdk diff .*--method=template/);
  });
});

describe('the suite against a stage', () => {
  const command = 'npm run test:deployed -- --url "$url" --token "$token"';

  it.each([`${folder}/deploy-stage.yml`, '.ci/test-with-one-token'])('is run by %s, with one token', (file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    expect(lines.filter((line) => line.includes('test:deployed')).map((line) => line.trim())).toEqual([command]);
  });

  it('is a step of .ci/run', () => {
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^\.ci\/test-with-one-token /m);
  });
});

describe('docs/delivery.md', () => {
  it('lets only jobs of one environment and of main assume a role', () => {
    expect(trust.map(({ Condition, Action }) => [Action, Condition])).toEqual([
      [
        'sts:AssumeRoleWithWebIdentity',
        {
          StringEquals: {
            'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
            'token.actions.githubusercontent.com:sub': 'repo:<owner>/<repository>:environment:<environment>',
            'token.actions.githubusercontent.com:ref': 'refs/heads/main',
          },
        },
      ],
    ]);
  });

  it('restricts every environment to main', () => {
    const [, step = ''] = /^3\. (.*?)^4\. /ms.exec(page) ?? [];
    expect(step).toMatch(/named `<stage>` and one named `<stage>-diff`\. Restrict both to the branch `main`/);
  });

  it('gives the role that compares nothing but templates', () => {
    expect(ofComparison.flatMap(({ Action }) => Action).sort()).toEqual([
      'cloudformation:DescribeStacks',
      'cloudformation:GetTemplate',
    ]);
    const stack = 'arn:aws:cloudformation:eu-central-1:111122223333:stack/computations-prod-state/1f';
    expect(allows(ofComparison, 'cloudformation:GetTemplate', stack)).toBe(true);
    expect(allows(ofComparison, 'cloudformation:GetTemplate', stack.replace('computations-prod', 'another'))).toBe(false);
  });

  it.each(['sts:AssumeRole', 's3:GetObject', 's3:ListBucket', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'])(
    'allows the role that compares no %s',
    (action) => {
      for (const resource of [
        '*',
        roleOfBootstrap('lookup-role'),
        roleOfBootstrap('deploy-role'),
        'arn:aws:s3:::content/content/1',
      ])
        expect(allows(ofComparison, action, resource)).toBe(false);
    },
  );

  it('keeps both roles from the lookup role', () => {
    const may = (name: string) => allows(ofDeployment, 'sts:AssumeRole', roleOfBootstrap(name));
    expect([may('deploy-role'), may('file-publishing-role')]).toEqual([true, true]);
    expect([may('lookup-role'), may('image-publishing-role'), may('cfn-exec-role')]).toEqual([false, false, false]);
    expect(allows(ofComparison, 'sts:AssumeRole', roleOfBootstrap('lookup-role'))).toBe(false);
  });

  it.each(['logs:FilterLogEvents', 'logs:StartQuery', 's3:GetObject', 'dynamodb:Query', 'kms:Decrypt'])(
    'allows neither role %s by itself',
    (action) => {
      for (const statements of [ofDeployment, ofComparison]) expect(allows(statements, action, '*')).toBe(false);
    },
  );
});
