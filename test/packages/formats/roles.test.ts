import { isRole, roles } from 'computation-management-formats/vocabulary';
import { describe, expect, it } from 'vitest';

const allButCvms = [
  'view',
  'create_computation',
  'provide_algorithm',
  'provide_dataset',
  'edit',
  'run',
  'consume_results',
  'administer',
];

describe('roles', () => {
  it.each([
    ['administrator', allButCvms],
    ['creator', ['view', 'create_computation', 'provide_algorithm', 'provide_dataset']],
    ['editor', ['view', 'edit']],
    ['runner', ['view', 'run']],
    ['viewer', ['view']],
    ['algo_provider', ['view', 'provide_algorithm']],
    ['dataset_provider', ['view', 'provide_dataset']],
    ['result_consumer', ['view', 'consume_results']],
    ['cvm', ['operate_cvm']],
  ] as const)('allows the role %s nothing but %j', (role, actions) => {
    expect(roles[role]).toEqual(actions);
  });

  it('takes no name of another property of an object for a role', () => {
    expect(['viewer', 'Viewer', 'toString', '__proto__', ''].map(isRole)).toEqual([true, false, false, false, false]);
  });
});
