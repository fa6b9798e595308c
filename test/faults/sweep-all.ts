import { faultsOf, openSweep, subjects } from './fault-sweep.ts';

/** Sweeps every fault, or those of the functions whose names contain the argument. Prints a line for each case. */
const [wanted = ''] = process.argv.slice(2);
const sweep = await openSweep();
let [faults, failed] = [0, 0];
for (const subject of subjects.filter(({ title }) => title.includes(wanted))) {
  const calls = await sweep.undisturbed(subject);
  const found: string[] = [];
  for (const fault of faultsOf(calls)) {
    faults += 1;
    const differences = await sweep.disturb(subject, fault).catch((error: unknown) => [String(error)]);
    if (differences.length === 0) continue;
    failed += 1;
    found.push(
      `  call ${fault.call + 1} (${calls[fault.call] ?? ''}) ${fault.kind}:`,
      ...differences.slice(0, 5).map((each) => `    ${each}`),
    );
  }
  console.log([`${subject.title}: ${calls.length} calls (${calls.join(', ')})`, ...found].join('\n'));
}
console.log(`${faults} faults, ${failed} with another outcome than one undisturbed request.`);
await sweep.stop();
process.exit(failed === 0 ? 0 : 1);
