import { parseArgs } from 'node:util';
import { checkEvidence } from './check-by-test-roots.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { isFoundAndNamed, objectionsTo } from './find-tampering.ts';
import { genuineEvidence } from './genuine-evidence.ts';
import { isBelieved, lie, wronglyHeld } from './lies.ts';
import { lieAboutMachines, wronglyBelieved } from './machine-lies.ts';
import { genuineFiles, tamper } from './tamperings.ts';

/**
 * Tampers with evidence in random ways, and prints how many of each kind the verifier has found and named. Then lets a service lie, and
 * prints how often the verifier believes an approval that was not given, and how often it believes a machine that the policy refuses.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    lies: { type: 'string', default: '5000' },
    machines: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const random = seededRandom(Number(values.seed));
const genuine = genuineEvidence();
for (const files of genuineFiles(genuine))
  if ((await checkEvidence(files)).some(({ verdict }) => verdict === 'does not hold'))
    throw new Error('The genuine evidence does not hold.');

const counts = new Map<string, { made: number; found: number }>();
for (let made = 0; made < Number(values.count); made++) {
  const tampering = tamper(genuine, random);
  const count = counts.get(tampering.kind) ?? { made: 0, found: 0 };
  counts.set(tampering.kind, count);
  count.made += 1;
  if (await isFoundAndNamed(tampering)) count.found += 1;
  else
    console.log(
      `NOT FOUND: ${tampering.kind}: ${tampering.what}; said: ${(await objectionsTo(tampering)).join(' ') || 'nothing'}`,
    );
}
for (const [kind, { made, found }] of [...counts].sort())
  console.log(`${String(found).padStart(6)} of ${String(made).padStart(5)}  ${kind}`);
const all = [...counts.values()];
const [made, found] = [all.reduce((sum, each) => sum + each.made, 0), all.reduce((sum, each) => sum + each.found, 0)];
console.log(`${found} of ${made} tamperings found and named (--seed ${values.seed}).`);

let [believed, wrong] = [0, 0];
for (let told = 0; told < Number(values.lies); told++) {
  const each = lie(random);
  const held = await wronglyHeld(each);
  if (await isBelieved(each)) believed += 1;
  if (held.length > 0) console.log(`WRONGLY HELD: ${each.what}: ${held.join(' ')}`);
  wrong += held.length > 0 ? 1 : 0;
}
console.log(
  `${values.lies} statements of a lying service: ${wrong} hold for an approval that was not given. ${believed} have nothing that does not hold.`,
);

const outcomes = { 0: 0, 1: 0, 3: 0 };
let wrongMachines = 0;
for (let told = 0; told < Number(values.machines); told++) {
  const each = await lieAboutMachines(random);
  const { wrong: said, exitCode } = await wronglyBelieved(each);
  outcomes[exitCode] += 1;
  if (said.length > 0) console.log(`WRONGLY BELIEVED: ${each.what}: ${said.join(' ')}`);
  wrongMachines += said.length > 0 ? 1 : 0;
}
console.log(
  `${values.machines} statements of a service that lies about machines: ${wrongMachines} hold for a machine that the policy refuses. ` +
    `Exit codes: ${outcomes[0]} are 0, ${outcomes[1]} are 1, ${outcomes[3]} are 3.`,
);
process.exit(found === made && wrong === 0 && wrongMachines === 0 ? 0 : 1);
