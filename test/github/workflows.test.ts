import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../.github/workflows');
const files = readdirSync(folder);
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
const inJob = (lines: string) => `on: push\njobs:\n  job:\n    runs-on: ubuntu-24.04\n${lines}`;

/** Returns what GitHub's parser of workflows refuses. */
let refusalsOf: (name: string, content: string) => Promise<string[]>;

beforeAll(async () => {
  // The parser imports JSON as bundlers do, without an attribute.
  const hooks = registerHooks({
    load: (url, context, next) => next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
  });
  const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser');
  hooks.deregister();
  refusalsOf = async (name, content) => {
    const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    if (value) await convertWorkflowTemplate(context, value);
    return context.errors.getErrors().map(({ message }) => message);
  };
});

describe.each(files)('the workflow %s', (file) => {
  it("is one to GitHub's parser", async () => {
    expect(await refusalsOf(file, textOf(file))).toEqual([]);
  });

  it('uses actions by the hash of a commit, with the version beside it', () => {
    const used = [...textOf(file).matchAll(/uses: (.*)$/gm)].map(([, action]) => action);
    const pinned = /^(\.\/\.github\/workflows\/[\w-]+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;
    expect(used.filter((action) => !pinned.test(action ?? ''))).toEqual([]);
  });

  it('starts with a token that can read alone', () => {
    expect(textOf(file)).toMatch(/^permissions:\n {2}contents: read\n\n/m);
  });
});

describe("GitHub's parser", () => {
  it.each([
    ['an unknown key', inJob('    stepz: []\n'), "Unexpected value 'stepz'"],
    ['an unknown event', inJob('    steps: []\n').replace('push', 'pushed'), "Unexpected value 'pushed'"],
    ['an unknown permission', `permissions:\n  id: write\n${inJob('    steps: []\n')}`, "Unexpected value 'id'"],
    ['an unknown context', inJob('    steps:\n      - run: echo ${{ secret.TOKEN }}\n'), "Unrecognized named-value: 'secret'"],
    ['a job without a runner or a workflow', 'on: push\njobs:\n  job:\n    steps: []\n', 'Required property is missing: runs-on'],
  ])('refuses %s', async (_, text, refusal) => {
    expect((await refusalsOf('workflow.yml', text)).join()).toContain(refusal);
  });
});

describe('the publication', () => {
  it('follows the check, demands the tag of the version, and signs the provenance in its own environment', () => {
    const text = textOf('publish.yml');
    expect(text).toMatch(/tags: \['v\*'\][^]*uses: \.\/\.github\/workflows\/check\.yml[^]*needs: check[^]*npm run release/);
    expect(text).toContain('[[ $GITHUB_REF_NAME == "v$version" ]]');
    expect(text).toMatch(/environment: npm\n[^]*id-token: write[^]*npm publish "\$tarball" --provenance/);
    expect(text.match(/id-token/g)).toHaveLength(1);
  });
});
