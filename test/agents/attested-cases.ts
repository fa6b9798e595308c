import { ok as ensure } from 'node:assert';
import { join } from 'node:path';
import type { AgentCvm, CvmOptions } from './agent-cvm.ts';
import { atWork, ensureEnd, ensureOnce, refusalOf, type RehearsalCase } from './cases.ts';
import type { RehearsalWorld } from './rehearsal-world.ts';
import type { RunInputs } from './rehearsed-run.ts';

export const root = join(import.meta.dirname, '../../packages/simulated-cvm/test-root.pem');
const policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };
export const strict: RunInputs = { policy, agent: ['--unbound', '--root', root] };
const reconnecting: RunInputs = { ...strict, policy: { ...policy, allow_reconnect: true } };

interface Machine {
  id: string;
  cvm: AgentCvm;
}

/** Starts a CVM whose evidence satisfies the policy. @param evidence by the names of `evidences` */
async function attestedCvm(world: RehearsalWorld, evidence: CvmOptions['evidence'] = 'fresh'): Promise<Machine> {
  const machine = await world.cvm(1, {}, { evidence });
  await world.service.untilAttestation(machine.id, { verdict: 'verified' });
  return machine;
}

/** Runs a computation on a CVM, and checks its evidence by the test root. */
async function completes(world: RehearsalWorld, id: string, inputs: RunInputs): Promise<string> {
  const run = await world.computation(inputs);
  await run.start(id);
  await run.upload();
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult();
  const directory = join(run.directory, 'evidence');
  await run.alice.cms('evidence', run.computationId, '--output', directory);
  const { stdout } = await run.alice.cms('verify', directory, '--root', root);
  ensure(stdout.includes('satisfies the attestation policy of the run'), `cms verify said: ${stdout}`);
  return `${end} Its evidence satisfies the policy.`;
}

async function ensureNotAttested(world: RehearsalWorld, id: string, why: string): Promise<void> {
  const { computationId } = await world.computation(strict);
  const { status, body } = await world.service.call('POST', `/d1/computations/${computationId}/run?cvm=${id}`);
  const said = `${status} ${String(body['reason'])}: ${String(body['detail'])}`;
  ensure(said.startsWith('409 cvm_not_attested') && said.includes(why), `The start was answered with ${said}`);
}

async function attested(world: RehearsalWorld): Promise<string> {
  const { id } = await attestedCvm(world);
  return await completes(world, id, strict);
}

async function cutBefore(world: RehearsalWorld): Promise<string> {
  const machine = await attestedCvm(world);
  machine.cvm.cutGateway();
  await world.service.untilAttestation(machine.id, { verdict: 'verified', connection: 'reconnected' });
  await ensureNotAttested(world, machine.id, 'restart the agent, or allow reconnects');
  return `A start with a strict policy was refused. With allow_reconnect: ${await completes(world, machine.id, reconnecting)}`;
}

async function cutStrict(world: RehearsalWorld): Promise<string> {
  const machine = await attestedCvm(world);
  const { run } = await atWork(world, 300, machine, strict);
  machine.cvm.cutGateway();
  const end = await ensureEnd(world, run, 'failed');
  ensure(end.includes('The connection over which the agent attested itself has closed'), `The reason is another one: ${end}`);
  await machine.cvm.restart();
  await world.service.untilFit(machine.id);
  await world.service.untilAttestation(machine.id, { verdict: 'verified' });
  return `${end} After a restart of the CVM: ${await completes(world, machine.id, strict)}`;
}

async function cutReconnecting(world: RehearsalWorld): Promise<string> {
  const machine = await attestedCvm(world);
  const { run } = await atWork(world, 20, machine, reconnecting);
  machine.cvm.cutGateway();
  const end = await ensureEnd(world, run, 'completed', 90);
  await run.fetchResult();
  const inferred = await ensureOnce(world, run, ['Reconnected/Warning', 'ConsumingResults/Ready']);
  return `${end} Made up for: ${inferred.join(', ')}.`;
}

async function replayed(world: RehearsalWorld): Promise<string> {
  const { id } = await world.cvm(1, {}, { evidence: 'replayed' });
  const failed = await world.service.untilAttestation(id, { verdict: 'refused' });
  ensure(failed === 'report_data', `These checks failed: ${failed}.`);
  await ensureNotAttested(world, id, 'report_data');
  return 'The evidence was refused for its report data, and so was the start.';
}

async function stale(world: RehearsalWorld): Promise<string> {
  const { id } = await attestedCvm(world, 'stale');
  const run = await world.computation(strict);
  await run.start(id);
  const { code, said } = await run.attest();
  ensure(code === 12 && said.includes('report_data'), `cms attest ended with ${code}: ${said}`);
  const refusal = await refusalOf(run);
  ensure(/does not satisfy the attestation policy\. Nothing was sent\.[^]*report_data/.test(refusal), `cms said: ${refusal}`);
  await run.stop();
  return `cms attest refused it, and cms sent nothing. ${await ensureEnd(world, run, 'cancelled')}`;
}

/** Another machine attests what this one is asked: only the certificate of the agent tells the two apart. */
async function relayed(world: RehearsalWorld): Promise<string> {
  const { id } = await attestedCvm(world, 'relayed');
  const run = await world.computation({ ...strict, agent: ['--root', root] });
  await run.start(id);
  const refusal = await refusalOf(run);
  ensure(refusal.includes('Without the certificate of the agent'), `cms said: ${refusal}`);
  const { code, said } = await run.attest();
  ensure(code === 0, `cms attest ended with ${code}: ${said}`);
  await run.stop();
  return `cms attest found nothing wrong, and cms sent nothing without a certificate. ${await ensureEnd(world, run, 'cancelled')}`;
}

async function exchangedPolicy(world: RehearsalWorld): Promise<string> {
  const { id } = await attestedCvm(world);
  const run = await world.computation(strict);
  await run.alice.cms('approve', run.computationId, '--yes');
  const attestation_policy = { ...policy, measurements: [...policy.measurements, 'cd'.repeat(48)] };
  await world.service.ask('PUT', `/d1/computations/${run.computationId}`, { name: 'Sum', attestation_policy });
  await run.startUnapproved(id);
  const refusal = await refusalOf(run);
  ensure(refusal.includes('that you did not approve with cms approve. Nothing was sent.'), `cms said: ${refusal}`);
  await run.stop();
  return `cms sent nothing. ${await ensureEnd(world, run, 'cancelled')}`;
}

/** The cases of CVMs whose attestation-service is a stand-in that has test keys. */
export const attestedCases: RehearsalCase[] = [
  { name: 'attested', play: attested },
  { name: 'attested-cut-before', play: cutBefore },
  { name: 'attested-cut', play: cutStrict },
  { name: 'attested-reconnect', play: cutReconnecting },
  { name: 'attested-replayed', play: replayed },
  { name: 'attested-stale', play: stale },
  { name: 'attested-relayed', play: relayed },
  { name: 'attested-other-policy', play: exchangedPolicy },
];
