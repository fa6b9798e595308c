import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Components } from '../../../shared/openapi/json-schema.ts';

const name = v.pipe(v.object({ first: v.string() }), v.title('Name'));

describe('Components', () => {
  it('moves schemas with a title into the components and replaces them with references', () => {
    const components = new Components();
    const person = v.pipe(v.object({ name: v.nullable(name), aliases: v.array(name), title: v.string() }), v.title('Person'));
    expect(components.add(person, 'output')).toEqual({ $ref: '#/components/schemas/Person' });
    expect(components.add(v.array(name), 'output')).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/Name' },
    });
    expect(Object.keys(components.schemas)).toEqual(['Name', 'Person']);
    expect(components.schemas['Name']).toMatchObject({ type: 'object', properties: { first: { type: 'string' } } });
    expect(components.schemas['Person']).toMatchObject({
      properties: {
        name: { anyOf: [{ $ref: '#/components/schemas/Name' }, { type: 'null' }] },
        aliases: { items: { $ref: '#/components/schemas/Name' } },
        title: { type: 'string' },
      },
    });
  });

  it('names the kinds of a schema by their type', () => {
    const components = new Components();
    const cat = v.object({ type: v.literal('cat'), lives: v.number() });
    const dog = v.pipe(v.object({ type: v.literal('dog') }), v.title('Hound'));
    components.add(v.pipe(v.variant('type', [cat, dog]), v.title('Pet')), 'input');
    expect(Object.keys(components.schemas)).toEqual(['CatPet', 'Hound', 'Pet']);
    expect(components.schemas['Pet']).toEqual({
      oneOf: [{ $ref: '#/components/schemas/CatPet' }, { $ref: '#/components/schemas/Hound' }],
    });
  });

  it('throws for two different schemas with the same title', () => {
    const components = new Components();
    components.add(name, 'output');
    components.add(name, 'input');
    const other = v.pipe(v.object({ last: v.string() }), v.title('Name'));
    expect(() => components.add(other, 'output')).toThrow(new TypeError('Two different schemas are titled Name.'));
  });
});
