import { measureEndpoints } from './measure-endpoints.ts';
import { printTable } from './print-table.ts';

const measurements = await measureEndpoints();
console.log('\nDynamoDB per call: sequential round trips, calls, read and write units\n');
printTable(measurements.map(({ endpoint, ...measured }) => ({ '#': endpoint ?? '', ...measured })));
