// Generated from the OpenAPI document by `npm run client:types`. Do not edit.

/** The method and path of each operation. */
export const operationRoutes = {
  /** Create a computation. Requires the permission `create_computation` (roles: administrator, creator). */
  createComputation: 'POST /{domainID}/computations',
  /** List computations, newest first. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listComputations: 'GET /{domainID}/computations',
  /** Get a computation. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getComputation: 'GET /{domainID}/computations/{id}',
  /** Replace a computation. Replaces all fields. A field that you omit is reset to its default, except `owner`, `approval`, `log_access`, `attestation_policy`, `result_review`, `consumers` and `providers`, which stay the same. Requires the permission `edit` (roles: administrator, editor), or being the owner of the computation. */
  updateComputation: 'PUT /{domainID}/computations/{id}',
  /** Delete a computation. Also deletes its events, runs, keys and links. Returns 409 while a run is active. Requires the permission `administer` (roles: administrator), or being the owner of the computation. */
  deleteComputation: 'DELETE /{domainID}/computations/{id}',
  /** Start a run. Runs the computation on a CVM. A 409 with the reason `run_active` or `cvm_busy` contains the conflicting run in `run_id`. If you lost the response to an earlier request, `run_id` shows the run that this request started. With an `attestation_policy`, a run starts only on a CVM whose attestation tokens, verified again now, all satisfy it, over the connection that attested. Otherwise, a 409 with the reason `cvm_not_attested` names the failing checks. Requires the permission `run` (roles: administrator, runner), or being the owner of the computation. */
  startRun: 'POST /{domainID}/computations/{id}/run',
  /** Get a run of a computation. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getRun: 'GET /{domainID}/computations/{id}/run',
  /** List runs, newest first. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listRuns: 'GET /{domainID}/computations/runs',
  /** Get daily statistics. Returns how often computations entered each status on each UTC day (one that runs twice counts twice), sorted by day and status. Omits counts of zero. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getStatistics: 'GET /{domainID}/computations/statistics',
  /** Upload your public key. Each user has one key per computation. Uploading again replaces it. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  uploadKey: 'POST /{domainID}/computations/{id}/key',
  /** Check whether your public key is uploaded. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  checkKey: 'GET /{domainID}/computations/{id}/key',
  /** Remove a public key. Also succeeds if there is no key. The user's approval goes with the key. An active run keeps its manifest. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  removeKey: 'DELETE /{domainID}/computations/{id}/key',
  /** Check what is missing before a run. If all three lists are empty, the computation is ready to run. Missing approvals are in `info`. Without `cvm`, an approval that is limited to CVMs counts here; whether it covers the CVM is checked when a run starts. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  dryRun: 'POST /{domainID}/computations/{id}/dryrun',
  /** Stop a run. Stops the active run of the computation. Repeating the request while the run is stopping returns the same response. If the CVM does not confirm the stop in time, the run ends as `cancelled`. The creator of an asset that the run uses may stop it too. Requires the permission `run` (roles: administrator, runner), or being the owner of the computation or the creator of an asset in it. */
  stopRun: 'POST /{domainID}/computations/{id}/stop',
  /** Get a manifest. Returns 422 with the missing items if a part of the manifest is missing. Missing approvals do not count as missing items here, because the manifest is what the parties approve. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getManifest: 'GET /{domainID}/computations/{id}/manifest',
  /** Create an asset. Send the content in `asset`, or omit `asset` and upload the content with the presigned request that the response has in `upload`. Or name in `source` where the agent fetches the content: then the service has none, and the asset is `ready` at once. Requires the permission `provide_algorithm` (roles: administrator, creator, algo_provider), or the permission `provide_dataset` (roles: administrator, creator, dataset_provider). */
  createAsset: 'POST /{domainID}/assets',
  /** List assets, newest first. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listAssets: 'GET /{domainID}/assets',
  /** Get an asset, with its content if you have access. Returns content of up to 4 MiB in `asset`, and a presigned request for larger content in `download`. Only the creator of the asset gets the content, unless `content_access` is `domain`. The response to others has `content_withheld: true` instead. Records reads by others, and returns the latest 100 of them to the creator in `content_reads`. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getAsset: 'GET /{domainID}/assets/{id}',
  /** Replace an asset. Replaces all fields. A field that you omit is reset to its default, except `asset`, `checksum`, `user_key`, `content_access`, `use`, `source`, `kbs`, `decompress`, `algo_type` and `algo_args`: they keep their values, and only the creator of the asset can change them. `source: null` removes all that goes with it. If you send new content without `checksum`, the service computes the checksum. Exception: a checksum that was declared for a file that is not stored stays the same. A new `file_name` or `asset_type` applies to all linked computations at once. Returns 409 if more than 30 computations are linked. The response contains `content_withheld: true` if you may not read the content. Requires the permission `administer` (roles: administrator), or being the creator of the asset. */
  updateAsset: 'PUT /{domainID}/assets/{id}',
  /** Delete an asset. Also deletes its content and links. Returns 409 while an active run uses the asset. The result of a run is deleted by the owner of the computation, or an administrator, after its release. Before, and of a withheld one, returns 409. Requires the permission `administer` (roles: administrator), or being the creator of the asset. */
  deleteAsset: 'DELETE /{domainID}/assets/{id}',
  /** Link an asset to a computation. A computation can have one algorithm and up to 100 datasets with different file names. Repeating the request changes nothing. Requires the permission `administer` (roles: administrator), or being the creator of the asset or the owner of the computation. */
  linkAsset: 'POST /{domainID}/assets/{id}/{computationID}',
  /** Unlink an asset from a computation. An active run keeps the assets that it was started with. Repeating the request changes nothing. Requires the permission `administer` (roles: administrator), or being the creator of the asset or the owner of the computation. */
  unlinkAsset: 'PUT /{domainID}/assets/{id}/{computationID}',
  /** List the computations linked to an asset, newest first. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listLinkedComputations: 'GET /{domainID}/assets/{id}/computations',
  /** List or watch the events of a computation. Returns the newest events first. With `after`, returns the oldest first. To watch a computation, send `after=` and `wait=20`. Then repeat the request, each time with the identifier of the last event that you received as `after`. `total` counts all events that the filters match, regardless of `after`. `wait` requires `after`. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listEvents: 'GET /{domainID}/computations/{id}/events',
  /** Get the latest lifecycle event of a computation. Ignores administrative events, such as updates, links and keys. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getStatus: 'GET /{domainID}/computations/{id}/status',
  /** List the open commands of a CVM, oldest first, and its active run. Returns a command until the CVM accepts or rejects it, or until it expires. A request to stop the run withdraws its `run` command if that was not accepted. With `wait`, the response is held until there is a command. Commands of type `run` have `manifest` and `agent_config`. Returns 403 with the reason `gateway_only` for a CVM that is registered with a certificate. Requires the permission `operate_cvm` (roles: cvm). */
  listCommands: 'GET /{domainID}/cvms/{cvmID}/commands',
  /** Report on runs. Records up to 50 reports. An event `ConsumingResults/Ready` or `Complete/Completed` completes the run. `Failed/Failed` or a rejection fails it. `Stopped/Stopped` ends a stop. Any report shows that the CVM is alive. Each report has a result, and an invalid one does not affect the others. Returns 403 with the reason `gateway_only` for a CVM that is registered with a certificate. Requires the permission `operate_cvm` (roles: cvm). */
  report: 'POST /{domainID}/cvms/{cvmID}/reports',
  /** Get the attestation of a run. Returns what the service found in the attestation evidence of the agent process that has or had the run, with links to the tokens. The service keeps tokens for 400 days. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getAttestation: 'GET /{domainID}/computations/{id}/attestation',
  /** Get the evidence of a run. Returns a signed statement about an ended run. The first request after the end of the run creates it, and later requests return the same statement. Returns 409 with the reason `run_active` while the run is active, and with `log_pending` and `Retry-After` until its start and end are in the log of the stage. The public keys are at `/.well-known/jwks.json`. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getEvidence: 'GET /{domainID}/computations/{id}/evidence',
  /** Hand in the result of a run for review. A reviewer fetches the result of a completed run from its CVM, and hands it in here. Creates an asset of the type `result`: upload the file with the presigned request in `upload`. The result is under review once a file with this `checksum` and `size` has arrived. Until the first decision, another file takes the place of the one handed in before. The reviewers of the run may read it, and after its release the consumers. Reviewers are those of the computation when the run started. Requires being a reviewer of results. */
  handInResult: 'POST /{domainID}/computations/{id}/result',
  /** Get the signed statement about the result of a run. Returns a signed statement about the decisions on the result of a run, once it is released or withheld. The first request creates it, and later requests return the same statement. Before, returns 409 with the reason `result_open`, and with `log_pending` and `Retry-After` until the decision is in the log of the stage. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getResult: 'GET /{domainID}/computations/{id}/result',
  /** Release or withhold the result of a run. Each reviewer decides once, and for good. As many releases as the review needs release the result to the consumers of the run. Once so many reviewers withhold it that this cannot happen any more, it is withheld. Returns the run. Requires being a reviewer of results. */
  decideResult: 'POST /{domainID}/computations/{id}/result/decision',
  /** Approve the manifest and the configuration of a computation, or refuse. Send the digests of the manifest and of the configuration that you have read. The approval does not cover arguments that the user who uploads the algorithm gives to the agent. The approval stops counting at `expires_at`, or when the manifest or the configuration changes. Changes of `log_level` and `server_key` do not matter. Each user has one approval per computation: approving again replaces it. Returns 409 `stale_digest` with the current digests if one of them is another, and 409 `unknown_event` if `journal_head` is no event of this computation. Returns 422 with the missing items if there is no manifest. To refuse, send `{decision: "refuse", reason}`. A refusal replaces your approval, and your next approval replaces the refusal. You can refuse at any time, also as a provider or consumer whom the computation names. Where a run needs your approval, the refusal stands in its place in what the run lacks. Requires being the owner of the computation, the creator of an asset in it, a result consumer, a provider whom the computation names (to refuse) or a reviewer of results. */
  approve: 'POST /{domainID}/computations/{id}/approvals',
  /** List the approvals of a computation and the users who must approve. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listApprovals: 'GET /{domainID}/computations/{id}/approvals',
  /** Withdraw your approval or your refusal. Also succeeds if you have neither approved nor refused. Does not stop active runs. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  withdrawApproval: 'DELETE /{domainID}/computations/{id}/approvals',
  /** List your open tasks: approvals, keys and content, refusals and invitations. Each list has up to 100 entries. All but `content` cover computations in which you take part: as the owner, with an asset or a key, or as a consumer, provider or reviewer whom the computation names. Those that you created and own, uploaded a key to or linked an asset to come first. `totals` are exact at any number. A change counts within 5 seconds, the expiry of an approval within a minute. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getTodo: 'GET /{domainID}/todo',
  /** Turn mail about your open tasks on or off. The address is the verified one of your token (`email` with `email_verified`), or else of the userinfo endpoint of its issuer. Without one: 409. It is kept encrypted until you turn mail off. At most one mail comes in 10 minutes and 10 a day, over all domains; of them one a day about invitations. A mail has a count and a link. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer), or the permission `operate_cvm` (roles: cvm). */
  setNotifications: 'PUT /{domainID}/notifications',
  /** Get whether you get mail about your open tasks. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer), or the permission `operate_cvm` (roles: cvm). */
  getNotifications: 'GET /{domainID}/notifications',
  /** Find computations, assets and CVMs. Names of computations and file names of assets match if each word of the text begins one of the first 8 words of the name, in any order, or if the whole name equals the text, whatever their case. CVMs match by a prefix of the identifier of at least 4 characters, computations and assets by their identifier in full or by a prefix of at least 18 characters, assets also by their checksum in full. Identifiers in full come first, then names and checksums in full, then prefixes of names, then prefixes of words; then by name, then the newest. Reads at most 50 candidates of each kind of match: `truncated` tells if there were more. So many names may be alike that a match is left out; `exact` and `owner` narrow the search before it is cut. A change of a name is found within a few seconds. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  find: 'GET /{domainID}/find',
  /** Read or watch the agent's log of a run. Open to the owner and, of the run, to the result consumers and the creators of assets: creators who are no consumers only if the computation had an `approval` other than `none`, or `providers`. Returns 403 with the reason `logs_not_shared` for everyone if the `log_access` with which the run started is `none`. If its result is reviewed, its reviewers read the log, and alone until the release. Up to 8 MiB of a run are kept, for 30 days. To watch a run, send `wait=20`, each time with the `next` of the last response as `after`. A page may be empty although more lines follow. Requires being the owner of the computation, the creator of an asset in it, a result consumer or a reviewer of results. */
  readLogs: 'GET /{domainID}/computations/{id}/logs',
  /** List or watch the requests for keys that you hold. For brokers. A request waits for 20 seconds. Verify all of it before you answer: the service may lie. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listReleases: 'GET /{domainID}/releases',
  /** Answer a request for a key that you hold. Returns 404 for requests for keys of others, and 409 once the request was answered or is over. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  answerRelease: 'POST /{domainID}/releases/{id}',
  /** Begin an attestation (KBS 0.4.0). For CVMs: clients of Confidential Containers speak this protocol (KBS) with the base URL `/{domainID}`. Returns 401 for another version than 0.4.0. */
  auth: 'POST /{domainID}/kbs/v0/auth',
  /** Send evidence for a nonce (KBS 0.4.0). The report data of the evidence is the SHA-384 of the canonical JSON of `additional-evidence`, `nonce` and `tee-pubkey`, with zeros up to 64 bytes. Returns 403 in a domain without an active run that has a key, or for evidence that does not hold. */
  attest: 'POST /{domainID}/kbs/v0/attest',
  /** Get the key of an asset, sealed for the TEE (KBS 0.4.0). Takes the token of `attest` or the cookie. Releases the key only while every condition holds, and says with 403 which one does not. Where a party holds the key, waits up to 20 seconds for its broker. */
  getKey: 'GET /{domainID}/kbs/v0/resource/{resource}',
  /** List registered CVMs, newest first. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  listCvms: 'GET /{domainID}/cvms',
  /** Get a registered CVM. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer). */
  getCvm: 'GET /{domainID}/cvms/{cvmID}',
  /** Register or update a CVM. A CVM with a certificate is served through the gateway alone. Returns 400 if `certificate` contains a private key, and 409 if another CVM of the domain has a certificate with the same public key, or if the certificate would change while a run holds the CVM. A run starts on a registered CVM only while the CVM is connected and its `fit` is not `spent`. Requires the permission `administer` (roles: administrator). */
  registerCvm: 'PUT /{domainID}/cvms/{cvmID}',
  /** Remove a registered CVM. Also deletes the presence of the CVM. Keeps its past runs. Returns 409 while a run holds the CVM. Requires the permission `administer` (roles: administrator). */
  deleteCvm: 'DELETE /{domainID}/cvms/{cvmID}',
  /** Give an asset a key that leaves only for the CVM of a run. The first key sets `kbs` and `source.kbs_resource_path` of the asset, so the agent asks the service for it. Other keys and policies change no manifest, and a run keeps those it began with. 409 `no_release_policy`: without a `release_policy`, one of the first 100 computations that the asset is linked to must have an `attestation_policy`. 409 `no_checksum`: the asset has no `checksum` yet. Requires being the creator of the asset. */
  setAssetKey: 'PUT /{domainID}/assets/{id}/key',
  /** Get what is known of an asset's key. Requires being the creator of the asset. */
  getAssetKey: 'GET /{domainID}/assets/{id}/key',
  /** Remove the key of an asset. Also succeeds if there is no key. No run starts with the asset until it has a key again. An active run keeps its key. Requires being the creator of the asset. */
  removeAssetKey: 'DELETE /{domainID}/assets/{id}/key',
  /** Unsubscribe with the link of a mail (RFC 8058). Ends mail to the user whom the secret names, about the domain that it names. Also succeeds if mail has ended before. */
  unsubscribe: 'POST /unsubscribe/{secret}',
  /** Get the page with a button to unsubscribe. Changes nothing. */
  showUnsubscribe: 'GET /unsubscribe/{secret}',
  /** Check the health of the service */
  health: 'GET /health',
  /** Get this OpenAPI document */
  openapi: 'GET /openapi.json',
  /** Get the public keys that verify evidence */
  jwks: 'GET /.well-known/jwks.json',
  /** Get the checkpoint of the log. Returns the newest signed checkpoint of the stage's append-only log, as a signed note (C2SP tlog-checkpoint), with the cosignatures of witnesses. The log has an entry for the start and the end of each run, and for a reviewed result. Compare what you got with what other parties got. */
  getCheckpoint: 'GET /log/checkpoint',
  /** Get a tile of the log. Returns a tile of hashes of the stage's append-only log, or a bundle of its entries (C2SP tlog-tiles). The path has slashes, such as `0/x001/067.p/8` or `entries/000`. What is stored under a path never changes. */
  getTile: 'GET /log/tile/{tile}',
} as const;
