import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machineHelp } from '../../../packages/words/texts.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import { problemExamples } from '../../../shared/openapi/problems.ts';

describe('machineHelp', () => {
  it('leads each conflict about machines that the service documents to a page of the guide, and no other conflict', () => {
    const examples = routes.flatMap((route) => Object.entries('reasons' in route ? problemExamples('conflict', route) : {}));
    const led = examples.filter(([, { value }]) => machineHelp(value.detail) !== '').map(([reason]) => reason);
    expect(led.toSorted()).toEqual(['cvm_not_attested', 'no_release_policy', 'no_release_policy']);
    const [, page = ''] = /^Help: (\S+)\n$/.exec(machineHelp('Nothing says which policy it has.')) ?? [];
    expect(machineHelp('There is no file policies.csv.')).toBe('');
    expect(existsSync(join(import.meta.dirname, '../../..', page))).toBe(true);
  });
});
