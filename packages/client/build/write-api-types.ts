import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiTypes } from './api-types.ts';

for (const [name, text] of Object.entries(await generateApiTypes())) writeFileSync(join(import.meta.dirname, '..', name), text);
