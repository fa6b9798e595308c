import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { stageNamed } from '../../infra/stages/stages.ts';
import { nameIn } from '../../infra/stages/stage.ts';
import { AlarmsOfStage, healthy, metricsOf, type Metric, type Series } from '../support/stage-alarms.ts';
import { DrillClient } from './drill-client.ts';
import { type EmulatedStage, onEmulatedStage, type Place, type StageToRehearse, step } from './emulated-stage.ts';
import { askEmulator, askJson, callsOf, countOf, linesOfFunctions } from './emulator-client.ts';
import { commandOf, runShell, sectionOf } from './page-commands.ts';

export interface Incident {
  name: string;
  /** The alarm that must start, without the stage's prefix. */
  alarm: string;
  /** The part of the incident that is simulated, because the emulator cannot do it. Default: none. */
  simulated?: string;
  /** Breaks the stage as somebody or AWS would, and uses it until the alarm's metrics have values. */
  break: (drill: Drill) => Promise<void>;
  /** The values of metrics that AWS would write and the emulator does not. */
  values?: Series;
  /** Does what the heading of the alarm says, by its own commands. */
  follow: (drill: Drill, page: Page) => Promise<void>;
}

/** A heading of docs/runbook.md that somebody follows. */
export class Page {
  private readonly drill: Drill;
  private readonly section: string;

  constructor(drill: Drill, section: string) {
    this.drill = drill;
    this.section = section;
  }

  /** Runs the command of the heading that begins with these words. Returns what it prints. */
  async run(words: string, values: Record<string, string> = {}, before = ''): Promise<string> {
    return await this.drill.shell(commandOf(this.section, words, { ...this.drill.names, ...values }), before);
  }

  /** Follows a link of the heading. @throws Error if it has none to there */
  linked(anchor: string): Page {
    const [, page = 'runbook.md'] = new RegExp(`\\]\\(([\\w.]+md)?#${anchor}\\)`).exec(this.section) ?? [];
    if (!this.section.includes(`#${anchor})`)) throw new Error(`The heading does not lead to #${anchor}:\n${this.section}`);
    return new Page(this.drill, sectionOf(page, anchor));
  }

  /** Returns the entries of the functions' logs that the heading's query for errors finds: one of them must say `expected`. */
  async errors(expected: string): Promise<void> {
    if (!this.section.includes('filter level = "ERROR"'))
      throw new Error(`The heading has no query for errors:\n${this.section}`);
    const found = (await this.drill.lines('ERROR')).filter((line) => line.includes(expected));
    if (found.length === 0) throw new Error(`No function has logged an error with ${expected}.`);
  }

  /** Fails unless the heading says this, which the operator then does without a command. */
  says(text: string): void {
    if (!this.section.replaceAll(/\s+/g, ' ').includes(text))
      throw new Error(`The heading does not say: ${text}\n${this.section}`);
  }
}

/** A stage on the emulator on which incidents happen. */
export class Drill {
  readonly emulated: EmulatedStage;
  readonly client: DrillClient;
  readonly alarms: AlarmsOfStage;
  /** The values of the `<names>` in the commands of the page. */
  readonly names: Record<string, string>;
  private readonly refused: { server: Server; count: number };
  private readonly answered = { Count: 0, '4xx': 0, '5xx': 0, Latency: 0 };
  private commands = 0;
  private beginning = 0;
  private before = new Map<string, number>();

  constructor(emulated: EmulatedStage, refusing: Server) {
    this.emulated = emulated;
    this.alarms = new AlarmsOfStage({ ...stageNamed(emulated.stage.name), ...emulated.stage.changes });
    this.client = new DrillClient(emulated);
    this.refused = { server: refusing, count: 0 };
    refusing.on('request', (request, response) => {
      request.resume();
      this.refused.count += 1;
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException', message: 'Throttled.' }));
    });
    const { output, stage } = emulated;
    const ofService = {
      StateMachineArn: output('service', 'StateMachineArn'),
      UndeliveredUrl: output('service', 'UndeliveredUrl'),
    };
    const ofState = { TableName: output('state', 'TableName'), ContentBucketName: output('state', 'ContentBucketName') };
    this.names = { stage: stage.name, ...ofService, ...ofState };
  }

  /** The name of a function, a queue or a pipe of the stage. */
  name(of: string): string {
    return nameIn(this.emulated.stage, of);
  }

  /** Runs a command of an operator, as root of the account. Returns what it prints. */
  async shell(command: string, before = ''): Promise<string> {
    this.commands += 1;
    return (await runShell(this.emulated, `incident-${this.commands}`, command, before)).trim();
  }

  /** Sends a request as a user, again and again. Every answer counts as API Gateway counts it. */
  async send(times: number, path: string, body?: object): Promise<void> {
    const { emulator, url, tokens } = this.emulated;
    for (let sent = 0; sent < times; sent++) {
      const { status } = await askEmulator(emulator.address, {
        path: `${new URL(url).pathname}/rehearsal/${path}`,
        headers: { authorization: `Bearer ${tokens['administrator']}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      this.answered.Count += 1;
      if (status >= 500) this.answered['5xx'] += 1;
      else if (status >= 400) this.answered['4xx'] += 1;
    }
  }

  /** Lets DynamoDB refuse everything, at the edge of the SDK in the functions, or no longer. */
  throttleTable(isThrottled: boolean): void {
    const { port } = this.refused.server.address() as AddressInfo;
    const fault = isThrottled ? { service: 'DynamoDB', port } : { service: '', port: 0 };
    writeFileSync(this.emulated.emulator.faults, JSON.stringify(fault));
  }

  /** Waits until Lambda has called a function so many times more. */
  async untilCalled(name: string, times: number): Promise<void> {
    const { address } = this.emulated.emulator;
    const since = Date.now();
    const isCalled = async () => (await callsOf(address, this.name(name), since)) >= times;
    await this.until(`${name} is called`, isCalled);
  }

  /** Waits until Lambda has not called a function for five seconds: it ends what it has begun, which takes long on a busy machine. */
  async untilQuiet(name: string): Promise<void> {
    let [calls, looks] = [-1, 0];
    await this.until(`${name} is called no more`, async () => {
      const now = await callsOf(this.emulated.emulator.address, this.name(name));
      looks = now === calls ? looks + 1 : 0;
      calls = now;
      return looks >= 5;
    });
  }

  /** Waits for more than a minute, in which a task of each minute that is not broken is called. Calls from before do not count. */
  async aMinute(): Promise<void> {
    await delay(3_000); // what was being called
    await this.begin();
    await Promise.all([delay(65_000), this.untilCalled('maintenance/fold-lists', 1)]);
  }

  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 180; attempt++) {
      if (await isSo()) return;
      await delay(1_000);
    }
    throw new Error(`It took three minutes, and still not: ${what}.`);
  }

  /** Returns the lines that functions have logged since the break. */
  async lines(text: string): Promise<string[]> {
    return await linesOfFunctions(this.emulated.emulator.address, text, this.beginning);
  }

  /** Begins to measure: from here on, `lines` has what is logged and `series` what is counted. */
  async begin(): Promise<void> {
    this.beginning = Date.now();
    this.before = await this.counted();
  }

  /** Returns the values of all metrics since the beginning, in one period that goes on. Undefined where nothing happened. */
  async series(): Promise<Series> {
    const counts = await this.counted();
    return Object.fromEntries(
      [...counts].map(([key, count]) => {
        const metric = JSON.parse(key) as Metric;
        const isGauge = metric.Namespace === 'AWS/SQS';
        const since = isGauge ? count : count - (this.before.get(key) ?? 0);
        return [this.alarms.keyOf(metric), [since === 0 ? undefined : since]];
      }),
    );
  }

  private async counted(): Promise<Map<string, number>> {
    const metrics = new Map(this.alarms.all.flatMap(metricsOf).map((metric) => [JSON.stringify(metric), metric]));
    const counts = new Map<string, number>();
    const logged = await this.metricsLogged();
    await Promise.all([...metrics].map(async ([key, metric]) => counts.set(key, await this.countOf(metric, logged))));
    return counts;
  }

  private async countOf(
    { Namespace, MetricName, Dimensions = [] }: Metric,
    logged: readonly Record<string, unknown>[],
  ): Promise<number> {
    const { address } = this.emulated.emulator;
    const dimensions = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, String(Value)]));
    if (Namespace === 'AWS/Lambda' && MetricName === 'Invocations')
      return await callsOf(address, dimensions['FunctionName'] ?? '', this.beginning);
    if (Namespace === 'AWS/Lambda') return await countOf(address, MetricName, dimensions);
    if (Namespace === 'AWS/ApiGateway') return this.answered[MetricName as keyof typeof this.answered];
    if (Namespace === 'AWS/DynamoDB') return this.refused.count;
    if (Namespace === 'AWS/States') return await this.executions(MetricName);
    if (Namespace === 'AWS/SQS') return await this.messagesIn(dimensions['QueueName'] ?? '');
    return logged
      .filter((entry) => Object.entries(dimensions).every(([name, value]) => entry[name] === value))
      .reduce((sum, entry) => sum + Number(entry[MetricName] ?? 0), 0);
  }

  private async metricsLogged(): Promise<Record<string, unknown>[]> {
    const lines = await linesOfFunctions(this.emulated.emulator.address, '_aws', this.beginning);
    return lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  }

  async executions(metricName: string): Promise<number> {
    const statuses: Record<string, string> = {
      ExecutionsFailed: 'FAILED',
      ExecutionsAborted: 'ABORTED',
      ExecutionsTimedOut: 'TIMED_OUT',
    };
    if (metricName === 'ExecutionThrottled') return 0;
    const statusFilter = statuses[metricName];
    const { executions } = (await askJson(this.emulated.emulator.address, 'states', 'AWSStepFunctions.ListExecutions', {
      stateMachineArn: this.names['StateMachineArn'],
      maxResults: 1000,
      ...(statusFilter === undefined ? {} : { statusFilter }),
    })) as { executions: object[] };
    return executions.length;
  }

  async messagesIn(queue: string): Promise<number> {
    const ask = (operation: string, input: object) =>
      askJson(this.emulated.emulator.address, 'sqs', `AmazonSQS.${operation}`, input);
    const { QueueUrl } = (await ask('GetQueueUrl', { QueueName: queue })) as { QueueUrl: string };
    const { Attributes } = (await ask('GetQueueAttributes', { QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] })) as {
      Attributes: Record<string, string>;
    };
    return Number(Attributes['ApproximateNumberOfMessages']);
  }
}

/**
 * Breaks a stage on the emulator in many ways, one after another. Each time, it checks that the alarm of the template would start with the
 * values that the broken stage has produced, if they go on, follows the heading that the alarm names by its own commands, and uses the stage
 * as the canary does.
 * @throws Error if an alarm does not start, a command fails, or the stage does not work again
 */
export async function drillIncidents(stage: StageToRehearse, place: Place, incidents: readonly Incident[]): Promise<void> {
  const failed: string[] = [];
  await onEmulatedStage(stage, place, async (emulated) => {
    const refusing = createServer();
    await once(refusing.listen(0, '127.0.0.1'), 'listening');
    const drill = new Drill(emulated, refusing);
    for (const incident of incidents) {
      await happen(drill, incident).catch((error: unknown) => {
        console.log(String(error));
        failed.push(incident.name);
      });
    }
    refusing.close();
  });
  if (failed.length > 0) throw new Error(`Of ${incidents.length} incidents failed ${failed.length}: ${failed.join('; ')}.`);
  const simulated = incidents.filter((incident) => incident.simulated !== undefined).length;
  console.log(
    `\n${incidents.length} incidents: each alarm would have started, its page was followed, and the stage works. ` +
      `In ${simulated} of them, a part was simulated.`,
  );
}

async function happen(drill: Drill, incident: Incident): Promise<void> {
  const { name, alarm: expected, simulated, values = {}, follow } = incident;
  const { alarms } = drill;
  console.log(`\n${name}${simulated === undefined ? '' : ` (simulated: ${simulated})`}`);
  const alarm = alarms.all.find((each) => alarms.nameOf(each) === expected);
  if (!alarm) throw new Error(`The stage has no alarm ${expected}.`);
  await drill.begin();
  await step('  breaking', () => incident.break(drill));
  const measured = await drill.series();
  const mine = Object.fromEntries(metricsOf(alarm).map((metric) => [alarms.keyOf(metric), measured[alarms.keyOf(metric)] ?? []]));
  const started = alarms
    .startedBy({ ...healthy, ...withoutSilence(measured), ...mine, ...values })
    .map((each) => alarms.nameOf(each));
  if (!started.includes(expected)) {
    throw new Error(`The alarm ${expected} does not start, but: ${started.join(', ') || 'none'}\n${JSON.stringify(mine)}`);
  }
  console.log(`  alarms: ${started.join(', ')}`);
  const [, heading = ''] = alarm.AlarmDescription.split('#');
  await step(`  following "${heading}"`, () => follow(drill, new Page(drill, sectionOf('runbook.md', heading))));
  await step('  creating, running, reading and deleting a computation', () => drill.client.round());
}

/**
 * Leaves out series without a value: what did not happen in the minute of an incident says nothing about tasks that are called less
 * often.
 */
function withoutSilence(measured: Series): Series {
  return Object.fromEntries(Object.entries(measured).filter(([, [value]]) => value !== undefined));
}
