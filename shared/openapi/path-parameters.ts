import type { JsonSchema } from '@valibot/to-json-schema';
import { cvmId, domainId, identifier } from '../identifier-schemas.ts';
import { jsonSchemaOf } from './json-schema.ts';

/** The parameters in a path such as `/{domainID}/computations/{id}`, as OpenAPI writes them. */
export function pathParameters(path: string) {
  const resource = path.includes('/assets/{id}') ? 'asset' : 'computation';
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...described(name, resource),
  }));
}

function described(name: string, resource: string): { description: string; schema: JsonSchema } {
  switch (name) {
    case 'domainID':
      return { description: 'The identifier of the domain.', schema: jsonSchemaOf(domainId, 'input') };
    case 'cvmID':
      return { description: 'The identifier of the CVM.', schema: jsonSchemaOf(cvmId, 'input') };
    case 'computationID':
      return { description: 'The identifier of the computation.', schema: jsonSchemaOf(identifier, 'input') };
    default:
      return { description: `The identifier of the ${resource}.`, schema: jsonSchemaOf(identifier, 'input') };
  }
}
