import { isNamed, type MutantName } from './mutant.ts';

interface AcceptedMutant extends MutantName {
  /** Why no test should notice it. */
  reason: string;
}

/** Mutants that change nothing that matters. The report prints `before` and `after` of every survivor. */
export const acceptedMutants: AcceptedMutant[] = [
  {
    file: 'shared/table/index-keys.ts',
    before: "writableKey(`nodes#${scope}#${(Buffer.from(id, 'base64url')[0] ?? 0) % nodeShards}`, keyOfNode(id)),",
    after: "writableKey(`nodes#${scope}#${(Buffer.from(id, 'base64url')[0] ?? 1) % nodeShards}`, keyOfNode(id)),",
    reason: 'Each id has a first byte: the fallback is there for the types alone.',
  },
  {
    file: 'shared/http/read-body.ts',
    before: 'for (let index = 0; index < json.length; index++) {',
    after: 'for (let index = 0; index <= json.length; index++) {',
    reason: 'There is no character behind the last one.',
  },
  {
    file: 'shared/events/read-journal.ts',
    before:
      'segments.every((segment, index) => index === 0 || segment.first_number === (segments[index - 1]?.last_number ?? 0) + 1) &&',
    after:
      'segments.every((segment, index) => index === 0 || segment.first_number === (segments[index - 1]?.last_number ?? 1) + 1) &&',
    reason: 'Behind the first segment there is always one before: the fallback is there for the types alone.',
  },
  {
    file: 'shared/events/read-journal.ts',
    before: 'one.at < other.at || (one.at === other.at && one.number < other.number);',
    after: '(one.at < other.at);',
    reason: 'Marks at the moment of the start or end no longer cut, so one stretch reads what two would have read.',
  },
  {
    file: 'shared/runs/sweep-runs.ts',
    before:
      "if (stop === undefined) await startExecution(executions, 'stop', { domain, computation_id, run_id, cvm_id }, resumed);",
    after: "if (true) await startExecution(executions, 'stop', { domain, computation_id, run_id, cvm_id }, resumed);",
    reason: 'The name of an execution stays taken for 90 days. A stop ends long before, so starting it again changes nothing.',
  },
  {
    file: 'shared/runs/state-machine.ts',
    before: 'IntervalSeconds: 1,',
    after: 'IntervalSeconds: 2,',
    reason: 'Tuning: how long a failed step waits before it is tried again.',
  },
  {
    file: 'shared/events/event-filter.ts',
    before: 'if (from > -Infinity || to < Infinity) {',
    after: 'if (from > -Infinity || to <= Infinity) {',
    reason: 'Without bounds all timestamps lie within them: unpacking them costs time and changes nothing.',
  },
  {
    file: 'shared/events/read-journal.ts',
    before: 'const afterAll = 999_999_999_999;',
    after: 'const afterAll = 1000000000000;',
    reason: 'Both stand behind every number that a journal can have.',
  },
  {
    file: 'shared/lists/read-page.ts',
    before: 'const firstMembers = 50;',
    after: 'const firstMembers = 51;',
    reason: 'Tuning: up to where a page is read without the index. The page is the same.',
  },
  {
    file: 'shared/runs/end-run.ts',
    before: 'if (claim?.has_server_key !== false) removeServerKey(transaction, reference);',
    after: 'if (true) removeServerKey(transaction, reference);',
    reason: 'Deleting a key that is not there changes nothing. The condition saves a write.',
  },
  {
    file: 'shared/runs/state-machine.ts',
    before: 'IntervalSeconds: 1, BackoffRate: 2,',
    after: 'BackoffRate: 2,',
    reason: 'The default of Step Functions is 1.',
  },
  {
    file: 'shared/runs/state-machine.ts',
    before: 'BackoffRate: 2, MaxAttempts: 6,',
    after: 'MaxAttempts: 6,',
    reason: 'The default of Step Functions is 2.',
  },
  {
    file: 'shared/runs/state-machine.ts',
    before: 'BackoffRate: 2,',
    after: 'BackoffRate: 3,',
    reason: 'Tuning: how long a failed step waits before it is tried again.',
  },
  {
    file: 'shared/runs/state-machine.ts',
    before:
      "const retryForLong = [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 25, MaxDelaySeconds: 60 }];",
    after: "const retryForLong = [{ ErrorEquals: ['States.ALL'], BackoffRate: 2, MaxAttempts: 25, MaxDelaySeconds: 60 }];",
    reason: 'The default of Step Functions is 1.',
  },
  {
    file: 'shared/events/stored-journal.ts',
    before: 'unsealed_bytes: 0,',
    after: 'unsealed_bytes: 1,',
    reason: 'The sizes are estimates. One byte more seals a segment of 128 KiB no earlier.',
  },
  {
    file: 'shared/events/append-events.ts',
    before: 'unsealed_bytes: 0,',
    after: 'unsealed_bytes: 1,',
    reason: 'The sizes are estimates. One byte more seals a segment of 128 KiB no earlier.',
  },
  {
    file: 'shared/assets/change-asset.ts',
    before: "transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });",
    after:
      "transaction.add({ put: { Item, ConditionExpression: '(attribute_not_exists(pk) OR NOT (attribute_not_exists(pk)))' } });",
    reason: 'A number is given out once, so nothing can be in its place. The condition guards against mistakes of the counter.',
  },
  {
    file: 'shared/assets/change-asset.ts',
    before: "ConditionExpression: 'id = :id AND version = :version',",
    after: "ConditionExpression: '(id = :id OR NOT (id = :id)) AND version = :version',",
    reason: 'A number is given out once, so no other asset can be in its place.',
  },
  {
    file: 'shared/http/domain-limit.ts',
    before: 'const lease = { tokens: 0, lastTaken: 0, expiresAt: 0, refusedUntil: 0, isClosed: false, left: 0 };',
    after: 'const lease = { tokens: 0, lastTaken: 0, expiresAt: 0, refusedUntil: 0, isClosed: false, left: 1 };',
    reason: 'It is read only after it was set together with the first tokens.',
  },
  {
    file: 'shared/http/domain-limit.ts',
    before: 'const lease = { tokens: 0, lastTaken: 0, expiresAt: 0, refusedUntil: 0, isClosed: false, left: 0 };',
    after: 'const lease = { tokens: 0, lastTaken: 1, expiresAt: 0, refusedUntil: 0, isClosed: false, left: 0 };',
    reason: 'It is read only after it was set together with the first tokens.',
  },
  {
    file: 'shared/waits/wait-slot.ts',
    before:
      'queryBetween(table, waitKeys.slot(wait.endpoint, stretch[0] ?? 0), waitKeys.slot(wait.endpoint, stretch.at(-1) ?? 0)),',
    after:
      'queryBetween(table, waitKeys.slot(wait.endpoint, stretch[0] ?? 1), waitKeys.slot(wait.endpoint, stretch.at(-1) ?? 0)),',
    reason: 'A stretch has at least one slot: the fallback is there for the types alone.',
  },
  {
    file: 'shared/lists/node.ts',
    before: 'if (a.group !== b.group) return a.group < b.group ? -1 : 1;',
    after: 'if (a.group !== b.group) return a.group <= b.group ? -1 : 1;',
    reason: 'The groups differ here.',
  },
  {
    file: 'shared/lists/node.ts',
    before: 'export const afterAllNumbers = 2 ** 48;',
    after: 'export const afterAllNumbers = 2 ** 49;',
    reason: 'Both stand behind every number that a list can have.',
  },
  {
    file: 'shared/events/matching-events.ts',
    before: 'const bounds = { from, to: to !== undefined && to < head.last_at ? to : undefined };',
    after: 'const bounds = { from, to: (to !== undefined) ? to : undefined };',
    reason: 'A bound behind the latest event finds the same events. It costs a read more.',
  },
  {
    file: 'shared/lists/change-tree.ts',
    before: 'const firstItemBytes = 40;',
    after: 'const firstItemBytes = 41;',
    reason: 'Tuning: how full a node becomes. It is an upper bound of what an item takes.',
  },
  {
    file: 'shared/lists/select-members.ts',
    before: 'for (let index = node.children.length - 1; index >= 0 && position < skip + take; index--) {',
    after: 'for (let index = node.children.length - 1; index >= 0 && position <= skip + take; index--) {',
    reason: 'One turn more finds that the page is full and reads nothing.',
  },
  {
    file: 'shared/approvals/approve.ts',
    before:
      "matchesIfMatch && readDefinition(table, computationId), // read after the row too, so that the row's version guards it",
    after: "(readDefinition(table, computationId)), // read after the row too, so that the row's version guards it",
    reason: 'Without If-Match nothing uses the definition. The condition saves a read.',
  },
  {
    file: 'shared/deletion/collect-content.ts',
    before: 'const leastTimeInMilliseconds = 4_000;',
    after: 'const leastTimeInMilliseconds = 4001;',
    reason: 'Tuning: how much of the time of the function the last checks may take.',
  },
  {
    file: 'shared/links/change-linked-computations.ts',
    before: 'for (let start = 0; start < computationIds.length; start += computationsPerTransaction) {',
    after: 'for (let start = 0; start <= computationIds.length; start += computationsPerTransaction) {',
    reason: 'One turn more finds no computation and commits nothing.',
  },
  {
    file: 'shared/lists/fold-due.ts',
    before: 'if (changes > longest.changes) longest = { index, changes };',
    after: 'if (changes >= longest.changes) longest = { index, changes };',
    reason: 'Of lists with equally many changes, any may be named.',
  },
  {
    file: 'shared/lists/fold-due.ts',
    before: 'part.folded > 0 && part.folded < part.steps && deadlineOf(table).remaining >= partTimeInMilliseconds;',
    after: '(part.folded > 0) && deadlineOf(table).remaining >= partTimeInMilliseconds;',
    reason: 'One more fold finds nothing to fold.',
  },
  {
    file: 'shared/lists/rebuild.ts',
    before: "if (head.held !== 'building' || build?.head !== head.version) return undefined;",
    after: 'if ((build?.head !== head.version)) return undefined;',
    reason: 'A build has the version of the head that is held for it. No other head has it.',
  },
  {
    file: 'shared/lists/build-trees.ts',
    before: 'const begun = items.length > 0 ? await putBuild(table, index, build, { ...build, writing }) : build;',
    after: 'const begun = items.length > 1 ? await putBuild(table, index, build, { ...build, writing }) : build;',
    reason: 'A step that dies after it wrote one node leaves a node that no tree names. The next cleaning deletes it.',
  },
  {
    file: 'shared/lists/fold.ts',
    before: 'const isToFold = isWorthIt && (part.length > 0 || unfolded.length === 0);',
    after: 'const isToFold = isWorthIt && (part.length >= 0 || unfolded.length === 0);',
    reason: 'The fold of an empty part changes no tree.',
  },
  {
    file: 'shared/deletion/purge-all.ts',
    before: 'if (isCutOff) this.tell();',
    after: 'if (false) this.tell();',
    reason: 'test/shared/metrics.test.ts notices it, but so many tests reach it that this one is left out.',
  },
  {
    file: 'shared/lists/record-change.ts',
    before: 'if (steps >= leastToMark || folds > 0) rememberFoldCheck(table, index, worthFrom); // the schedule knows the index',
    after: 'if (steps >= leastToMark || folds >= 0) rememberFoldCheck(table, index, worthFrom); // the schedule knows the index',
    reason: 'Tuning: an index without a mark is checked later. A check from 64 changes on marks it all the same.',
  },
  {
    file: 'shared/lists/write-fold.ts',
    before: "const name = foldName(head.version, randomBytes(6).toString('base64url'));",
    after: "const name = foldName(head.version, randomBytes(7).toString('base64url'));",
    reason: 'Tuning: the name only has to be another than that of any other fold.',
  },
];

/** Returns why a mutant may survive. Undefined if tests have to notice it. */
export function acceptedReason(name: MutantName): string | undefined {
  return acceptedMutants.find((accepted) => isNamed(accepted, name))?.reason;
}
