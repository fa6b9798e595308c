import { describe, expect, it } from 'vitest';
import { mutantsOf } from '../../../tools/mutants/mutants-of.ts';

const mutated = (source: string) => mutantsOf('a.ts', source).map(({ text }) => text);

describe('mutantsOf', () => {
  it.each([
    ['a comparison: its boundary and its opposite', 'a < b;', ['a <= b;', 'a >= b;']],
    ['an equality', 'a === b;', ['a !== b;']],
    ['a number', 'a * 15_000;', ['a / 15_000;', 'a * 15001;']],
    ['an if without else', 'if (a) b();', ['if (true) b();', 'if (false) b();', 'if (a) {}']],
    ['a list', '[a, ...b];', ['[...b];', '[a, ];']],
    ['an object', 'f({ a, b: c });', ['f({ b: c });', 'f({ a,  });']],
    ['a negation', 'f(!a);', ['f(a);']],
    ['a call that selects', 'f(a.filter(b));', ['f(a);']],
    ['the anchors of a regular expression', 'f(/^a$/);', ['f(/a$/);', 'f(/^a/);']],
    ['a compared string', "f(a === 'b');", ["f(a !== 'b');", "f(a === 'mutated');"]],
  ])('changes %s', (_what, text, expected) => {
    expect(mutated(text)).toEqual(expect.arrayContaining(expected));
  });

  it('makes each clause of a DynamoDB condition true, and keeps its names and values in use', () => {
    const text = "f({ ConditionExpression: 'id = :id AND attribute_not_exists(a)' });";
    expect(mutated(text).filter((each) => each.includes('OR NOT'))).toEqual([
      "f({ ConditionExpression: '(id = :id OR NOT (id = :id)) AND attribute_not_exists(a)' });",
      "f({ ConditionExpression: 'id = :id AND (attribute_not_exists(a) OR NOT (attribute_not_exists(a)))' });",
    ]);
  });

  it.each([
    ['imports', "import { a } from './a.ts';"],
    ['types', 'interface A { b: 1 | 2; }'],
    ['examples in schemas', "const a = v.pipe(v.string(), v.examples(['b', 'c']), v.description('d'));"],
    ['wording', "f('A sentence.');"],
    ['what DynamoDB refuses', "f({ KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: values });"],
  ])('leaves %s alone', (_what, text) => {
    expect(mutated(text).filter((each) => !/^\s*$|^\{\}$/.test(each))).toEqual([]);
  });
});
