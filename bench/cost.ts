import { writeFileSync } from 'node:fs';
import { costPage } from '../docs/cost/cost-page.ts';
import { measuredFile, readMeasured, type Measured } from '../docs/cost/measured.ts';
import { readTemplates } from '../docs/cost/template-figures.ts';
import { measureEndpoints } from './measure-endpoints.ts';

/** Writes docs/cost.md. `--templates` keeps the measured calls, and reads only what the templates of a stage say. */
const calls = process.argv.includes('--templates') ? readMeasured() : await measureCalls();
const measured: Measured = { functions: calls.functions, keyed: calls.keyed, stage: readTemplates() };
writeFileSync(measuredFile, `${JSON.stringify(measured, null, 2)}\n`);
writeFileSync(new URL('../docs/cost.md', import.meta.url), costPage(measured));

async function measureCalls(): Promise<Pick<Measured, 'functions' | 'keyed'>> {
  const all = (await measureEndpoints()).map(({ calls: _, endpoint, ...measurement }) => ({
    ...measurement,
    ...(endpoint === undefined ? {} : { endpoint }),
  }));
  return { functions: all.filter(({ key }) => key === undefined), keyed: all.filter(({ key }) => key !== undefined) };
}
