/** A defence as it stands in a source, and the source without it. */
export interface Defence {
  file: string;
  before: string;
  after: string;
}

const at = (file: string, before: string, after: string): Defence => ({ file, before, after });
const shared = (file: string, before: string, after: string): Defence => at(`shared/${file}.ts`, before, after);
const verifier = (file: string, before: string, after: string): Defence => at(`packages/verify/${file}.ts`, before, after);
const changesInputs = shared(
  'rows/change-computation',
  "ConditionExpression: 'id = :id AND version = :version'",
  "ConditionExpression: 'id = :id AND (version = :version OR NOT (version = :version))'",
);
const isOfDigest = shared(
  'approvals/readiness',
  'if (approval.digest !== digest || approval.configuration_digest !== configuration_digest) return true;',
  '',
);
const onlyParties = shared(
  'endpoints/approvals',
  "access: { anyOf: [], or: ['owner', 'creator', 'consumer', 'provider'] }",
  "access: { anyOf: ['view'], or: ['owner', 'creator', 'consumer', 'provider'] }",
);
const raises = shared('computations/update-computation', '    refuseLowerApproval(current.approval, approval);\n', '');
const withheld = shared('rows/asset', "return user !== created_by && content_access !== 'domain';", 'return false;');
const originator = shared(
  'rows/change-computation',
  'originator, details, lifecycle: true }',
  "originator: '', details, lifecycle: true }",
);
const consumersAreNamed = shared(
  'rows/manifest',
  'consumers.length > 0 ? consumers.includes(key.user_id) : key.is_consumer',
  'true',
);

const onlyAttestedStream = shared('attestation/agent-record', "conditions.push(['attested_stream', ':stream', stream]);", ';');

/** The defences by the attempts of docs/security.md that they prevent or detect. `npm run mutants:defences` takes them out. */
export const defences: Record<string, Defence[]> = {
  'Take a run by the token and the certificate of an attested machine': [onlyAttestedStream],
  'Connect with the key of an attested CVM, and send no token': [onlyAttestedStream],
  'Satisfy a policy by one token beside one that it refuses': [
    at(
      'packages/attestation/policy.ts',
      'if (ofPolicy.every(({ passed }) => passed)) return [];',
      'if (ofPolicy.length > 0) return [];',
    ),
  ],
  'Send tokens until a refused one is left out': [
    at('packages/attestation/policy.ts', 'if (tokens.length > mostTokens)', 'if (tokens.length > 2 * mostTokens)'),
  ],
  'Attest software below the paravisor that asked for the report': [
    at('packages/attestation/policy.ts', 'passed: vmpl !== null && vmpl <= highest,', 'passed: true,'),
  ],
  'Take a run in a guest that another run has used': [
    shared('attestation/guests', 'attribute_not_exists(first_run) OR first_run = :run', 'attribute_not_exists(none)'),
  ],
  'Change the evidence of a run by a token after its end': [
    shared('rows/agent-tokens', 'if (!isActive(status)) return', 'if (isActive(status) && frozen.length > 0) return'),
  ],
  'Hide a refused token from the verifier': [
    verifier('check-attestation', 'if (asStated && asStated.verdict !== verdict)', 'if (asStated?.verdict === null)'),
  ],
  'Leave out a token, or state one that came after the end': [
    verifier('check-attestation', 'isSame && hashes.length === tokens.length,', 'true,'),
  ],
  'Choose the time of a verdict': [verifier('check-attestation', 'if (before.length === 0)', 'if (judged.length === 0)')],
  'State more than anyone checks': [
    verifier('check-evidence', 'unknownMembers(statement, form.output)', 'unknownMembers(form.output, form.output)'),
  ],
  'State times of a run that are out of order': [
    verifier('check-run', "['issued_at', isInOrder(last.timestamp, statement.issued_at)],", "['issued_at', true],"),
  ],
  'State the fingerprint of another certificate': [
    verifier('check-run', 'fingerprintIn(statement.certificate) === fingerprint', 'true'),
  ],
  'Sign two truths of one run': [verifier('check-approvals', 'place >= 0 && place < approval,', 'true,')],
  'Take over a computation by its name': [
    shared('find/find', 'matches.length > limit || found.some(({ truncated }) => truncated)', 'false'),
  ],
  'Publish a secret in the address of a source, or lead the agent elsewhere by it': [
    at('packages/formats/source.ts', "!url.includes('#')", 'true'),
  ],
  'Read the logs of earlier runs as a new owner': [
    shared('logs/read-logs', 'owner: snapshot?.owner ?? row.owner', 'owner: row.owner'),
  ],
  'Call without a token, or with a forged or expired one': [
    at(
      'local/http-api/authorize.ts',
      "if (token === undefined) return { challenge: 'Bearer' };",
      "if (token === undefined) return { claims: { sub: 'x' } };",
    ),
  ],
  'Call with a membership that is almost right': [
    shared('http/caller', 'if (ofDomain !== domain || role === undefined) continue;', 'if (role === undefined) continue;'),
  ],
  'Reach into another domain by its identifiers': [
    shared('table/keys', '({ pk: `${listNames.computations}#${domain}` })', '({ pk: listNames.computations })'),
  ],
  'Approve with a stolen token': [shared('approvals/readiness', 'key !== null && uploaded !== key ?', 'uploaded === null ?')],
  'Get the answer of someone else by their `Idempotency-Key`': [
    shared('http/change-endpoint', '[caller.id, route.method, route.path, key]', '[route.method, route.path, key]'),
  ],
  'Repeat an own request after losing the role': [
    shared('http/change-endpoint', '    if (!relations) request.permit(answer.relations);\n', ''),
  ],
  'Use an upload link twice, or change it': [
    shared('rows/content-store', "const headers = { 'if-none-match': '*' };", 'const headers: Record<string, string> = {};'),
  ],
  'Find secrets in the logs': [
    shared(
      'http/endpoint',
      "} else log('INFO', error.message, { code: error.code });",
      "} else log('INFO', error.message, { code: error.code, headers: event.headers });",
    ),
  ],
  'Crash the service with nonsense': [
    shared('http/endpoint', "throw invalid('', 'Expected well-formed JSON.');", "throw new Error('malformed');"),
  ],
  'Lead a user of `npm start` to a web page that calls what listens there': [
    at('local/machine/listen.ts', 'if (ownOrigin(request) !== undefined || request.headers.host === proxyHost)', 'if (request)'),
  ],
  'Read, publish or open a file of another party by the file of `cms init`': [
    at(
      'packages/cms/collaboration/sync.ts',
      'const kept = mayLower ? [] : lowers',
      'const kept = mayLower || lowers.length > 0 ? [] : lowers',
    ),
  ],
  'Get a token or content by a redirect, plain `http` or the sign-in port': [
    at(
      'packages/client/calls/retrying-fetch.ts',
      "fetch(new Request(request.clone(), { headers, signal, redirect: 'manual' }))",
      'fetch(new Request(request.clone(), { headers, signal }))',
    ),
  ],
  'Write into a terminal as a service: lines, escapes, a `Next:`': [
    at('packages/formats/printable.ts', "return text.replace(control, ' ');", 'return text;'),
  ],
  'Keep a user out of the console by the name of a domain': [
    at('packages/console/sign-in/tokens.ts', 'Object.create(null) as Record<string, Role[]>', '{} as Record<string, Role[]>'),
  ],
  'Read the state of `npm start --data` as another user of the machine': [
    at('local/dynamodb/dynamodb-engine.ts', 'umask 077', 'umask 022'),
  ],

  'Replace an asset after the others approved': [changesInputs, isOfDigest],
  'Replace an asset during a run': [at('functions/runs/get-manifest.ts', 'path.id, query.run)', 'path.id, undefined)')],
  'Get other bytes run than those that were approved': [
    shared(
      'evidence/read-evidence',
      '    manifest: snapshot.manifest,',
      "    manifest: { ...snapshot.manifest, name: 'Another' },",
    ),
  ],
  'Have content hashed that differs from the bytes sent, by `content-encoding`': [
    shared('rows/content-store', "    ResponseContentEncoding: 'identity',", '    '),
  ],
  'Delete an asset that a run uses': [
    shared('assets/delete-asset', 'run_id: run.id }, assetId)) throw inUse(run.id);', 'run_id: run.id }, assetId)) return;'),
  ],
  'Read the content of another provider': [withheld],
  'Approve for another party': [onlyParties],
  'Send again a signature that was ever seen': [
    at('packages/formats/approval-text.ts', '    approver,\n    manifest_digest,', '    manifest_digest,'),
    at('packages/formats/approval-text.ts', '    ...limitsOf(approved),\n', ''),
    shared(
      'approvals/approve',
      'if (given.digest !== digest || given.configuration_digest !== configuration_digest) {',
      'if (given.digest !== digest) {',
    ),
  ],
  'Sign with the key of another party': [
    shared('approvals/approve', 'approvals.some((other) => other.user_id !== by && other.key === key)', 'approvals.length < 0'),
  ],
  'Upload a key with which anyone can sign, also in a certificate': [
    at('packages/formats/public-key.ts', '  if (why !== undefined) throw new InvalidKeyError(`${why} ${expected}`);', ''),
    at('packages/formats/public-key.ts', "if (y >= prime) return 'The Ed25519 key is not encoded as RFC 8032 says.';", ''),
    at('packages/formats/public-key.ts', "if (modulus % 2n === 0n) return 'The modulus of the RSA key is even.';", ''),
    at(
      'packages/formats/certificates.ts',
      "isCertificate(der) ? whyWeakCertificate(der) : ''",
      "isCertificate(der) ? undefined : ''",
    ),
    shared('rows/agent-config', 'const message = whyWeakCertificates(input[key]);', "const message = '';"),
  ],
  'Link an asset to computations of others, so that no approval counts': [
    at('functions/assets/link-asset.ts', 'providers.length === 0 || providers.includes(created_by)', 'true'),
  ],
  'Upload a private key where others would see it': [
    at(
      'packages/formats/public-key.ts',
      '  if (holdsPrivateKey(text)) throw new InvalidKeyError(privateKeySent + expected);',
      '',
    ),
    shared('rows/agent-config', '(value) => !holdsPrivateKey(value)', '() => true'),
  ],
  'Stop the runs of others': [
    shared(
      'endpoints/runs',
      "access: { anyOf: ['run'], or: ['owner', 'creator'] },\n  uses: { table: adds, stateMachine: ['StartExecution'] },",
      "access: { anyOf: ['view'], or: ['owner', 'creator'] },\n  uses: { table: adds, stateMachine: ['StartExecution'] },",
    ),
  ],

  'Run a computation on a dataset with `use: approval` without its creator': [
    shared('approvals/readiness', "isAll || use === 'approval'", 'isAll'),
  ],
  'Run a computation on a dataset with `use: open` without its creator': [
    shared(
      'runs/stop-run',
      'return permit({ owner, creator: await readCreators(table, { computation_id, run_id }) });',
      'return permit({ owner });',
    ),
  ],
  "Use a copy: an asset of one's own with the hash and key of the real one": [
    shared('approvals/readiness', '      creator: created_by,', "      creator: 'nobody',"),
  ],
  'Read a linked dataset': [withheld],
  'Start a run while an approval is withdrawn or expires': [
    changesInputs,
    shared('runs/start-run', 'return present > head.last_at ? present : head.last_at;', 'return now;'),
  ],
  'Add a consumer of the results, or name another owner, after the approvals': [changesInputs],
  'Name the address of another agent, or relay to the true one': [
    at('packages/cms/agent/agent-connection.ts', '      if (fingerprint !== undefined) comparePeer(socket, fingerprint);\n', ''),
    at(
      'packages/cms/agent/right-agent.ts',
      'if (fingerprint === undefined && options.unbound !== true) {',
      'if (fingerprint === undefined && options.unbound === false) {',
    ),
  ],
  'Show another policy or manifest to a provider after the approval': [
    at(
      'packages/cms/agent/right-agent.ts',
      'record.manifest_digest !== manifest_digest || record.configuration_digest !== configuration_digest',
      'record.manifest_digest === ""',
    ),
  ],
  'Turn off attested TLS after the approvals': [changesInputs],
  'Turn off attested TLS between reading and approval': [
    shared('approvals/readiness', ' || approval.configuration_digest !== configuration_digest) return true;', ') return true;'),
  ],
  'Return one manifest or configuration, and name the digest of another': [
    at(
      'packages/words/coverage.ts',
      'if (served.digest !== canonicalDigest(manifest) || served.configurationDigest !== canonicalDigest(configuration)) {',
      'if (served.digest !== canonicalDigest(manifest)) {',
    ),
  ],
  'Demand less approval than before': [raises],
  'Run on a CVM of their own': [shared('approvals/readiness', 'cvm_ids.includes(cvm.id) &&', '')],
  'Use a signature for another computation': [
    at('packages/formats/approval-text.ts', '    computation: computation.toLowerCase(),\n', ''),
  ],
  'Overwrite the change of another editor unseen': [
    shared(
      'computations/update-computation',
      'if (ifMatch?.(...etagsFor(caller, current, definition)) === false) throw preconditionFailed();',
      '',
    ),
  ],

  "Become a result consumer, where someone's approval is needed": [isOfDigest],
  "Become a result consumer, where nobody's approval is needed": [
    shared(
      'rows/definition',
      "(['attestation_policy', 'consumers', 'providers'] as const)",
      "(['attestation_policy', 'providers'] as const)",
    ),
  ],
  'Change the name, the description or the `agent_config`': [changesInputs],
  'Name another owner': [
    shared('computations/update-computation', "if (owner !== current.owner) requireActionToChange(caller, 'administer');", ''),
  ],

  'Read content': [withheld],
  'Open content, or its use, or replace content, hash or key': [
    shared('assets/update-asset', '  if (by === created_by) return;\n  const fields', '  if (by !== "") return;\n  const fields'),
  ],
  'Give or take back the approval of another user': [onlyParties],
  'Become the owner, and with it a result consumer': [originator],
  'Unlink, rename or delete what others made': [originator],
  'Speak for a CVM': [
    at(
      'packages/formats/vocabulary.ts',
      "  administrator: [\n    'view',",
      "  administrator: [\n    'operate_cvm',\n    'view',",
    ),
  ],

  'Do more than the role allows': [
    shared('http/caller', 'access.anyOf.some((action) => caller.actions.has(action)) ||', 'access.anyOf.length > 0 ||'),
  ],
  'Start or stop the computations of others, as a runner': [originator],
  'Read the private key of an agent': [
    shared('computations/describe-computation', '...(mayReadServerKey(row, caller) ? { server_key } : {})', 'server_key'),
  ],
  'Become a result consumer by uploading a key': [consumersAreNamed],
  'Read content unnoticed where it is open': [
    shared(
      'assets/describe-asset',
      '  if (content) await recordContentRead(table, { domain, assetId: id, user: by, now });\n',
      '',
    ),
  ],
  'Hide the open approvals of a user behind many computations': [
    shared('rows/participation', 'Map.groupBy([...own, ...others],', 'Map.groupBy([...others, ...own],'),
  ],

  'Report about the run of another CVM': [
    shared('cvms/record-reports', 'return run?.cvm_id === cvmId ? [run] : [];', 'return run ? [run] : [];'),
  ],
  'Use a token that is bound to another CVM': [
    shared('http/caller', 'if (boundTo === undefined || boundTo === cvmId) for', 'for'),
  ],
  'Forge events of users or of the service, or look-alikes': [
    shared('cvms/report', 'v.check((type) => !isOwnEvent(type),', 'v.check(() => true,'),
    at('packages/formats/look-alikes.ts', 'seenAs.get(letter) ?? letter', 'letter'),
  ],
  'Accept a run a second time, with another attestation': [
    at('gateway/session/hosted-run.ts', 'for (const hash of this.attestations) this.reportAttestation(hash);', ''),
    verifier('check-events', "if (event.event_type !== 'Attestation' || event.run_id !== run.id) return [];", 'return [];'),
  ],

  'Alter a statement, or the events before its end': [
    verifier('check-evidence', 'await verifiesEs256(canonicalJson(statement), signature, found)', 'true'),
    verifier('check-events', 'return hashOfEvent(event) === event.hash;', 'return true;'),
    verifier('check-events', 'if (!before || event.previous_hash === before.hash) return [];', 'return [];'),
  ],
  'Drop the oldest events of the journal': [
    verifier('check-events', 'if (!first || isBeginning(first)) return [];', 'return [];'),
  ],
  'Leave out what the statement should not show': [
    verifier('statement', "use: v.picklist(['open', 'approval']),", "use: v.optional(v.picklist(['open', 'approval'])),"),
    verifier('statement', '  approvals: v.array(approval),', '  approvals: v.nullable(v.array(approval)),'),
  ],
  'Publish an own key under the name of the signing key': [
    verifier('check-evidence', 'v.is(key, each) && thumbprintOf(each) === key_id', 'v.is(key, each) && each.kid === key_id'),
    verifier('check-evidence', 'if (each.kid === thumbprintOf(each)) return [];', 'return [];'),
  ],
  'Start a run without an approval that it needs, past the check': [
    verifier('check-approvals', 'const missing = needed.filter((user) => !given.has(user));', 'const missing: string[] = [];'),
  ],
  'Make the service sign a statement that contradicts itself': [
    verifier('check-run', "['configuration.approval', configuration.approval === statement.approval],", ''),
  ],
  'Forge a signed approval': [
    verifier(
      'check-approvals',
      'fingerprint !== undefined && (await isSignatureOf({ text, key, signature }))',
      'fingerprint !== undefined',
    ),
    verifier(
      'check-approvals',
      '!areAllAmong(needed, sound)) return problems;',
      '!areAllAmong(needed, approvals)) return problems;',
    ),
    verifier('check-approvals', '    ...(sound.some(({ signature }) => signature !== null)', '    ...(sound.length < 0'),
  ],
  'Let a name read like a sentence of the verifier': [
    verifier('finding', 'return JSON.stringify(text).replace', 'return text.replace'),
    verifier('evidence-files', '${what} is not JSON: ${quoted(messageOf(error))}', '${what} is not JSON: ${messageOf(error)}'),
  ],
  'Put back an approval that was withdrawn, or with other limits or key': [
    verifier('check-approvals', '...checkLastOne(approval, event), ', ''),
  ],
  'Change what a run was started with, before there is a statement': [
    verifier('check-run', '      start_digest === startDigest(statement),', '      true,'),
  ],
  'Keep creators from demanding approval by linking their asset often': [
    shared(
      'assets/change-linked-computations',
      'return computations.slice(computationsPerTransaction).map(({ id }) => id);',
      'return [];',
    ),
  ],
  'Take the service from all, or run up a bill, without a token': [
    at('infra/service/service-api.ts', '{ requestsPerSecond: 10, burst: 50 }', '{ requestsPerSecond: 1_000, burst: 50 }'),
  ],
  'Keep others from starting a run by replacing an own key': [
    shared(
      'keys/participant-keys',
      'if (hasApproved || (await isParty(table, computation, { user, isConsumer }))) {',
      'if (hasApproved || !hasApproved) {',
    ),
  ],
  'Use up the changes that a domain may make': [
    shared('http/domain-limit', 'const shareOfUser = 0.5;', 'const shareOfUser = 1;'),
  ],
  'Connect to the gateway as another CVM': [
    at('gateway/wire/identity.ts', 'if (jobId !== identity.cvmId) {', 'if (jobId === undefined) {'),
    at(
      'gateway/stream-handler.ts',
      "return registered === fingerprint ? undefined : 'The CVM is registered with another certificate.';",
      'return undefined;',
    ),
    at(
      'gateway/session/cvm-streams.ts',
      '({ fingerprint }) => fingerprint !== registration?.certificate',
      '() => registration === undefined',
    ),
  ],
  'Backdate an event': [shared('cvms/effects-of-reports', '...(occurred_at ? { occurred_at } : {})', '...{}')],
  'Change the outcome of a run after its end': [
    shared('cvms/effects-of-reports', 'const outcome = claim.outcome', 'const outcome = (undefined as unknown)'),
    shared('cvms/effects-of-reports', "unless: outcome ? ['outcome'] : [],", 'unless: [],'),
  ],
  'Write lines of its own or terminal escapes into the log of a run': [
    at(
      'gateway/session/run-logs.ts',
      'text: printable(message.slice(0, longestLine)).trimEnd()',
      'text: message.slice(0, longestLine).trimEnd()',
    ),
    at(
      'gateway/session/run-logs.ts',
      "level: level.slice(0, longestLevel).replace(/\\W/g, '_')",
      'level: level.slice(0, longestLevel)',
    ),
  ],
  'Be taken for another CVM by a quoted name in its certificate': [
    at('gateway/wire/identity.ts', "if (subjectAltNames.includes('\"')) return undefined;", ''),
  ],
  'Fall silent, or ignore a stop': [
    shared(
      'lifecycle/state-machine',
      'HeartbeatSeconds: times.silenceInSeconds,',
      'HeartbeatSeconds: times.silenceInSeconds * 1_000,',
    ),
  ],
  'Flood the gateway, as a CVM': [at('gateway/wire/limits.ts', 'return count > most;', 'return false;')],
  'Sign evidence (gateway, or any function but one)': [
    at('infra/house/permissions.ts', "allowIn('kms', uses.signingKey, signingKeyArn)", "allowIn('kms', ['Sign'], signingKeyArn)"),
  ],
  'Publish a signing key of their own': [
    shared(
      'evidence/signing-key',
      "environment().PUBLISHED_KEY_ARNS.split(',')",
      "environment().PUBLISHED_KEY_ARNS.split(',').slice(1)",
    ),
  ],
  'Read private keys or links from kept answers': [
    shared('http/change-endpoint', "new Set(['server_key', 'upload', 'download'])", "new Set(['none'])"),
  ],
  'Read `server_key` of a computation': [shared('rows/agent-config', 'return { computation };', "return { computation: '' };")],
  'Read content, logs or the table through the pipeline, by a branch of the repository': [
    at('.github/workflows/deliver.yml', 'branches: [main]', 'branches: ["**"]'),
    at('docs/delivery.md', '"cloudformation:DescribeStacks", "cloudformation:GetTemplate"', '"sts:AssumeRole"'),
    at('docs/delivery.md', ',\n             "token.actions.githubusercontent.com:ref": "refs/heads/main"', ''),
  ],
  'Read more on the event bus than the API gives': [
    at('infra/bus/bus-event.ts', '      sk: { S: [{ prefix: journalKeys.prefixes.event }] },\n', ''),
  ],
  'Reach data with the password of the canary': [
    at(
      'infra/state/users.ts',
      'authFlows: { userSrp: true, adminUserPassword: true },',
      'authFlows: { userSrp: true, userPassword: true },',
    ),
  ],
  'Export the key that signs': [
    at(
      'infra/state/keys.ts',
      'this, name, {\n        keySpec: KeySpec.ECC_NIST_P256,',
      'this, name, {\n        keySpec: KeySpec.RSA_2048,',
    ),
  ],
};
