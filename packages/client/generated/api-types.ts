// Generated from the OpenAPI document by `npm run client:types`. Do not edit.

export interface paths {
    "/{domainID}/computations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List computations, newest first
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listComputations"];
        put?: never;
        /**
         * Create a computation
         * @description Requires the permission `create_computation` (roles: administrator, creator).
         */
        post: operations["createComputation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a computation
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getComputation"];
        /**
         * Replace a computation
         * @description Replaces all fields. A field that you omit is reset to its default, except `owner`, `approval`, `log_access`, `attestation_policy`, `result_review`, `consumers` and `providers`, which stay the same. Requires the permission `edit` (roles: administrator, editor), or being the owner of the computation.
         */
        put: operations["updateComputation"];
        post?: never;
        /**
         * Delete a computation
         * @description Also deletes its events, runs, keys and links. Returns 409 while a run is active. Requires the permission `administer` (roles: administrator), or being the owner of the computation.
         */
        delete: operations["deleteComputation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run of a computation
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getRun"];
        put?: never;
        /**
         * Start a run
         * @description Runs the computation on a CVM. A 409 with the reason `run_active` or `cvm_busy` contains the conflicting run in `run_id`. If you lost the response to an earlier request, `run_id` shows the run that this request started. With an `attestation_policy`, a run starts only on a CVM whose attestation tokens, verified again now, all satisfy it, over the connection that attested. Otherwise, a 409 with the reason `cvm_not_attested` names the failing checks. Requires the permission `run` (roles: administrator, runner), or being the owner of the computation.
         */
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs, newest first
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get daily statistics
         * @description Returns how often computations entered each status on each UTC day (one that runs twice counts twice), sorted by day and status. Omits counts of zero. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether your public key is uploaded
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["checkKey"];
        put?: never;
        /**
         * Upload your public key
         * @description Each user has one key per computation. Uploading again replaces it. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        post: operations["uploadKey"];
        /**
         * Remove a public key
         * @description Also succeeds if there is no key. The user's approval goes with the key. An active run keeps its manifest. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        delete: operations["removeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/dryrun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check what is missing before a run
         * @description If all three lists are empty, the computation is ready to run. Missing approvals are in `info`. Without `cvm`, an approval that is limited to CVMs counts here; whether it covers the CVM is checked when a run starts. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        post: operations["dryRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a run
         * @description Stops the active run of the computation. Repeating the request while the run is stopping returns the same response. If the CVM does not confirm the stop in time, the run ends as `cancelled`. The creator of an asset that the run uses may stop it too. Requires the permission `run` (roles: administrator, runner), or being the owner of the computation or the creator of an asset in it.
         */
        post: operations["stopRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a manifest
         * @description Returns 422 with the missing items if a part of the manifest is missing. Missing approvals do not count as missing items here, because the manifest is what the parties approve. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getManifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List assets, newest first
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listAssets"];
        put?: never;
        /**
         * Create an asset
         * @description Send the content in `asset`, or omit `asset` and upload the content with the presigned request that the response has in `upload`. Or name in `source` where the agent fetches the content: then the service has none, and the asset is `ready` at once. Requires the permission `provide_algorithm` (roles: administrator, creator, algo_provider), or the permission `provide_dataset` (roles: administrator, creator, dataset_provider).
         */
        post: operations["createAsset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/assets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an asset, with its content if you have access
         * @description Returns content of up to 4 MiB in `asset`, and a presigned request for larger content in `download`. Only the creator of the asset gets the content, unless `content_access` is `domain`. The response to others has `content_withheld: true` instead. Records reads by others, and returns the latest 100 of them to the creator in `content_reads`. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getAsset"];
        /**
         * Replace an asset
         * @description Replaces all fields. A field that you omit is reset to its default, except `asset`, `checksum`, `user_key`, `content_access`, `use`, `source`, `kbs`, `decompress`, `algo_type` and `algo_args`: they keep their values, and only the creator of the asset can change them. `source: null` removes all that goes with it. If you send new content without `checksum`, the service computes the checksum. Exception: a checksum that was declared for a file that is not stored stays the same. A new `file_name` or `asset_type` applies to all linked computations at once. Returns 409 if more than 30 computations are linked. The response contains `content_withheld: true` if you may not read the content. Requires the permission `administer` (roles: administrator), or being the creator of the asset.
         */
        put: operations["updateAsset"];
        post?: never;
        /**
         * Delete an asset
         * @description Also deletes its content and links. Returns 409 while an active run uses the asset. The result of a run is deleted by the owner of the computation, or an administrator, after its release. Before, and of a withheld one, returns 409. Requires the permission `administer` (roles: administrator), or being the creator of the asset.
         */
        delete: operations["deleteAsset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/assets/{id}/{computationID}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Unlink an asset from a computation
         * @description An active run keeps the assets that it was started with. Repeating the request changes nothing. Requires the permission `administer` (roles: administrator), or being the creator of the asset or the owner of the computation.
         */
        put: operations["unlinkAsset"];
        /**
         * Link an asset to a computation
         * @description A computation can have one algorithm and up to 100 datasets with different file names. Repeating the request changes nothing. Requires the permission `administer` (roles: administrator), or being the creator of the asset or the owner of the computation.
         */
        post: operations["linkAsset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/assets/{id}/computations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the computations linked to an asset, newest first
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listLinkedComputations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or watch the events of a computation
         * @description Returns the newest events first. With `after`, returns the oldest first. To watch a computation, send `after=` and `wait=20`. Then repeat the request, each time with the identifier of the last event that you received as `after`. `total` counts all events that the filters match, regardless of `after`. `wait` requires `after`. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the latest lifecycle event of a computation
         * @description Ignores administrative events, such as updates, links and keys. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/cvms/{cvmID}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the open commands of a CVM, oldest first, and its active run
         * @description Returns a command until the CVM accepts or rejects it, or until it expires. A request to stop the run withdraws its `run` command if that was not accepted. With `wait`, the response is held until there is a command. Commands of type `run` have `manifest` and `agent_config`. Returns 403 with the reason `gateway_only` for a CVM that is registered with a certificate. Requires the permission `operate_cvm` (roles: cvm).
         */
        get: operations["listCommands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/cvms/{cvmID}/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report on runs
         * @description Records up to 50 reports. An event `ConsumingResults/Ready` or `Complete/Completed` completes the run. `Failed/Failed` or a rejection fails it. `Stopped/Stopped` ends a stop. Any report shows that the CVM is alive. Each report has a result, and an invalid one does not affect the others. Returns 403 with the reason `gateway_only` for a CVM that is registered with a certificate. Requires the permission `operate_cvm` (roles: cvm).
         */
        post: operations["report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/attestation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the attestation of a run
         * @description Returns what the service found in the attestation evidence of the agent process that has or had the run, with links to the tokens. The service keeps tokens for 400 days. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getAttestation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the evidence of a run
         * @description Returns a signed statement about an ended run. The first request after the end of the run creates it, and later requests return the same statement. Returns 409 with the reason `run_active` while the run is active, and with `log_pending` and `Retry-After` until its start and end are in the log of the stage. The public keys are at `/.well-known/jwks.json`. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getEvidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signed statement about the result of a run
         * @description Returns a signed statement about the decisions on the result of a run, once it is released or withheld. The first request creates it, and later requests return the same statement. Before, returns 409 with the reason `result_open`, and with `log_pending` and `Retry-After` until the decision is in the log of the stage. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getResult"];
        put?: never;
        /**
         * Hand in the result of a run for review
         * @description A reviewer fetches the result of a completed run from its CVM, and hands it in here. Creates an asset of the type `result`: upload the file with the presigned request in `upload`. The result is under review once a file with this `checksum` and `size` has arrived. Until the first decision, another file takes the place of the one handed in before. The reviewers of the run may read it, and after its release the consumers. Reviewers are those of the computation when the run started. Requires being a reviewer of results.
         */
        post: operations["handInResult"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/result/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release or withhold the result of a run
         * @description Each reviewer decides once, and for good. As many releases as the review needs release the result to the consumers of the run. Once so many reviewers withhold it that this cannot happen any more, it is withheld. Returns the run. Requires being a reviewer of results.
         */
        post: operations["decideResult"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the approvals of a computation and the users who must approve
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listApprovals"];
        put?: never;
        /**
         * Approve the manifest and the configuration of a computation, or refuse
         * @description Send the digests of the manifest and of the configuration that you have read. The approval does not cover arguments that the user who uploads the algorithm gives to the agent. The approval stops counting at `expires_at`, or when the manifest or the configuration changes. Changes of `log_level` and `server_key` do not matter. Each user has one approval per computation: approving again replaces it. Returns 409 `stale_digest` with the current digests if one of them is another, and 409 `unknown_event` if `journal_head` is no event of this computation. Returns 422 with the missing items if there is no manifest. To refuse, send `{decision: "refuse", reason}`. A refusal replaces your approval, and your next approval replaces the refusal. You can refuse at any time, also as a provider or consumer whom the computation names. Where a run needs your approval, the refusal stands in its place in what the run lacks. Requires being the owner of the computation, the creator of an asset in it, a result consumer, a provider whom the computation names (to refuse) or a reviewer of results.
         */
        post: operations["approve"];
        /**
         * Withdraw your approval or your refusal
         * @description Also succeeds if you have neither approved nor refused. Does not stop active runs. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        delete: operations["withdrawApproval"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/todo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your open tasks: approvals, keys and content, refusals and invitations
         * @description Each list has up to 100 entries. All but `content` cover computations in which you take part: as the owner, with an asset or a key, or as a consumer, provider or reviewer whom the computation names. Those that you created and own, uploaded a key to or linked an asset to come first. `totals` are exact at any number. A change counts within 5 seconds, the expiry of an approval within a minute. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getTodo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get whether you get mail about your open tasks
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer), or the permission `operate_cvm` (roles: cvm).
         */
        get: operations["getNotifications"];
        /**
         * Turn mail about your open tasks on or off
         * @description The address is the verified one of your token (`email` with `email_verified`), or else of the userinfo endpoint of its issuer. Without one: 409. It is kept encrypted until you turn mail off. At most one mail comes in 10 minutes and 10 a day, over all domains; of them one a day about invitations. A mail has a count and a link. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer), or the permission `operate_cvm` (roles: cvm).
         */
        put: operations["setNotifications"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find computations, assets and CVMs
         * @description Names of computations and file names of assets match if each word of the text begins one of the first 8 words of the name, in any order, or if the whole name equals the text, whatever their case. CVMs match by a prefix of the identifier of at least 4 characters, computations and assets by their identifier in full or by a prefix of at least 18 characters, assets also by their checksum in full. Identifiers in full come first, then names and checksums in full, then prefixes of names, then prefixes of words; then by name, then the newest. Reads at most 50 candidates of each kind of match: `truncated` tells if there were more. So many names may be alike that a match is left out; `exact` and `owner` narrow the search before it is cut. A change of a name is found within a few seconds. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/computations/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read or watch the agent's log of a run
         * @description Open to the owner and, of the run, to the result consumers and the creators of assets: creators who are no consumers only if the computation had an `approval` other than `none`, or `providers`. Returns 403 with the reason `logs_not_shared` for everyone if the `log_access` with which the run started is `none`. If its result is reviewed, its reviewers read the log, and alone until the release. Up to 8 MiB of a run are kept, for 30 days. To watch a run, send `wait=20`, each time with the `next` of the last response as `after`. A page may be empty although more lines follow. Requires being the owner of the computation, the creator of an asset in it, a result consumer or a reviewer of results.
         */
        get: operations["readLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/releases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or watch the requests for keys that you hold
         * @description For brokers. A request waits for 20 seconds. Verify all of it before you answer: the service may lie. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listReleases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/releases/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a request for a key that you hold
         * @description Returns 404 for requests for keys of others, and 409 once the request was answered or is over. Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        post: operations["answerRelease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/kbs/v0/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin an attestation (KBS 0.4.0)
         * @description For CVMs: clients of Confidential Containers speak this protocol (KBS) with the base URL `/{domainID}`. Returns 401 for another version than 0.4.0.
         */
        post: operations["auth"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/kbs/v0/attest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send evidence for a nonce (KBS 0.4.0)
         * @description The report data of the evidence is the SHA-384 of the canonical JSON of `additional-evidence`, `nonce` and `tee-pubkey`, with zeros up to 64 bytes. Returns 403 in a domain without an active run that has a key, or for evidence that does not hold.
         */
        post: operations["attest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/kbs/v0/resource/{resource}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the key of an asset, sealed for the TEE (KBS 0.4.0)
         * @description Takes the token of `attest` or the cookie. Releases the key only while every condition holds, and says with 403 which one does not. Where a party holds the key, waits up to 20 seconds for its broker.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/cvms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List registered CVMs, newest first
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["listCvms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/cvms/{cvmID}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a registered CVM
         * @description Requires the permission `view` (roles: administrator, creator, editor, runner, viewer, algo_provider, dataset_provider, result_consumer).
         */
        get: operations["getCvm"];
        /**
         * Register or update a CVM
         * @description A CVM with a certificate is served through the gateway alone. Returns 400 if `certificate` contains a private key, and 409 if another CVM of the domain has a certificate with the same public key, or if the certificate would change while a run holds the CVM. A run starts on a registered CVM only while the CVM is connected and its `fit` is not `spent`. Requires the permission `administer` (roles: administrator).
         */
        put: operations["registerCvm"];
        post?: never;
        /**
         * Remove a registered CVM
         * @description Also deletes the presence of the CVM. Keeps its past runs. Returns 409 while a run holds the CVM. Requires the permission `administer` (roles: administrator).
         */
        delete: operations["deleteCvm"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/{domainID}/assets/{id}/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what is known of an asset's key
         * @description Requires being the creator of the asset.
         */
        get: operations["getAssetKey"];
        /**
         * Give an asset a key that leaves only for the CVM of a run
         * @description The first key sets `kbs` and `source.kbs_resource_path` of the asset, so the agent asks the service for it. Other keys and policies change no manifest, and a run keeps those it began with. 409 `no_release_policy`: without a `release_policy`, one of the first 100 computations that the asset is linked to must have an `attestation_policy`. 409 `no_checksum`: the asset has no `checksum` yet. Requires being the creator of the asset.
         */
        put: operations["setAssetKey"];
        post?: never;
        /**
         * Remove the key of an asset
         * @description Also succeeds if there is no key. No run starts with the asset until it has a key again. An active run keeps its key. Requires being the creator of the asset.
         */
        delete: operations["removeAssetKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/unsubscribe/{secret}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the page with a button to unsubscribe
         * @description Changes nothing.
         */
        get: operations["showUnsubscribe"];
        put?: never;
        /**
         * Unsubscribe with the link of a mail (RFC 8058)
         * @description Ends mail to the user whom the secret names, about the domain that it names. Also succeeds if mail has ended before.
         */
        post: operations["unsubscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the health of the service
         * @description Check the health of the service
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get this OpenAPI document
         * @description Get this OpenAPI document
         */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the public keys that verify evidence
         * @description Get the public keys that verify evidence
         */
        get: operations["jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/log/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the checkpoint of the log
         * @description Returns the newest signed checkpoint of the stage's append-only log, as a signed note (C2SP tlog-checkpoint), with the cosignatures of witnesses. The log has an entry for the start and the end of each run, and for a reviewed result. Compare what you got with what other parties got.
         */
        get: operations["getCheckpoint"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/log/tile/{tile}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a tile of the log
         * @description Returns a tile of hashes of the stage's append-only log, or a bundle of its entries (C2SP tlog-tiles). The path has slashes, such as `0/x001/067.p/8` or `entries/000`. What is stored under a path never changes.
         */
        get: operations["getTile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description The CVM accepts a command. */
        AcceptedReport: {
            /**
             * @description The kind of the report.
             * @constant
             */
            type: "accepted";
            /** @description An identifier that you choose. A second report with it on the same run is counted as a duplicate and ignored. */
            id: string;
            /** @description The run that the report is about. */
            run_id: string;
            /** @description The command that this report answers. */
            command_id: string;
            /**
             * @description The reason. Up to 1,000 characters.
             * @default
             */
            reason?: string;
        };
        /** @description The configuration of the agent in the CVM. */
        AgentConfig: {
            /**
             * @description The log level of the agent. Empty: the default of the agent.
             * @default
             * @enum {string}
             */
            log_level?: "" | "debug" | "info" | "warn" | "error";
            /**
             * @description The certificate of the agent, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            cert_file?: string;
            /**
             * @description The CA certificate that the agent trusts for servers, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            server_ca_file?: string;
            /**
             * @description The CA certificate that the agent trusts for clients, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            client_ca_file?: string;
            /**
             * @description Whether the agent uses attested TLS. Default `false`.
             * @default false
             */
            attested_tls?: boolean;
            /** @description The private key of the certificate. Only callers who may edit the computation get it. */
            server_key?: string;
        };
        /** @description The configuration of the agent, with its private key. */
        AgentConfigForCvm: {
            /**
             * @description The log level of the agent. Empty: the default of the agent.
             * @default
             * @enum {string}
             */
            log_level?: "" | "debug" | "info" | "warn" | "error";
            /**
             * @description The certificate of the agent, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            cert_file?: string;
            /**
             * @description The CA certificate that the agent trusts for servers, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            server_ca_file?: string;
            /**
             * @description The CA certificate that the agent trusts for clients, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            client_ca_file?: string;
            /**
             * @description Whether the agent uses attested TLS. Default `false`.
             * @default false
             */
            attested_tls?: boolean;
            /**
             * @description The private key of the certificate, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            server_key?: string;
        };
        /** @description The configuration of the agent in the CVM. Omitted fields get their defaults. */
        AgentConfigInput: {
            /**
             * @description The log level of the agent. Empty: the default of the agent.
             * @default
             * @enum {string}
             */
            log_level?: "" | "debug" | "info" | "warn" | "error";
            /**
             * @description The certificate of the agent, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            cert_file?: string;
            /**
             * @description The CA certificate that the agent trusts for servers, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            server_ca_file?: string;
            /**
             * @description The CA certificate that the agent trusts for clients, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            client_ca_file?: string;
            /**
             * @description Whether the agent uses attested TLS. Default `false`.
             * @default false
             */
            attested_tls?: boolean;
            /**
             * @description The private key of the certificate, as PEM text or as a path inside the CVM. Up to 16 KiB.
             * @default
             */
            server_key?: string;
        };
        /** @description The request that was answered. */
        AnsweredKey: {
            /**
             * Format: uuid
             * @description The identifier of the request.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /**
             * Format: uuid
             * @description The asset.
             */
            asset: string;
            /**
             * Format: uuid
             * @description The run.
             */
            run: string;
        };
        /** @description The approval of a manifest by a user. */
        Approval: {
            /** @description The user who approved. */
            user: string;
            /** @description The digest of the manifest: the SHA3-256, lower-case hex, of its canonical JSON (RFC 8785). */
            digest: string;
            /** @description The digest of the configuration: the SHA3-256, lower-case hex, of the canonical JSON (RFC 8785) of `{agent_config, approval, attestation_policy, log_access, result_review}`. `agent_config` has `cert_file`, `server_ca_file`, `client_ca_file` and `attested_tls`, with defaults. */
            configuration_digest: string;
            /** @description The CVMs that a run may use. null: any. */
            cvm_ids: string[] | null;
            /** @description The time before which a run must start, as the user sent it. null: any time. */
            expires_at: string | null;
            /** @description The number of runs that may start on the approval. null: any. */
            max_runs: number | null;
            /** @description The number of runs that have started on the approval, without those that no CVM accepted. null without `max_runs`. */
            used_runs: number | null;
            /** @description The identifier of the counter of runs, a new UUID that you make for this approval. null without `max_runs`. */
            approval_id: string | null;
            /** @description The newest event of the computation's journal that the approver saw: its `id` and `hash`. null: none is named. */
            journal_head: components["schemas"]["JournalHead"] | null;
            /** @description Whether the user signed the approval. */
            signed: boolean;
            /** @description `true` if the approval does not count, for one of these reasons: the manifest or the configuration has changed, the approval has expired, as many runs have started as it allows, it was signed with a key that the user has replaced, it is unsigned and the computation requires signatures, or all CVMs that it allows have other certificates. */
            stale: boolean;
            /** @description Up to 20 reasons why the approval does not count. null if `stale` is `false`. */
            stale_because: components["schemas"]["ApprovalChange"][] | null;
            /**
             * Format: date-time
             * @description The time of the approval.
             * @example 2025-07-17T08:00:00.000Z
             */
            approved_at: string;
        };
        /** @description A reason why an approval does not count. Hashes are in hex. `sha256:` and a hash stands for a value of more than 200 characters. At `/signature`, the values are the keys; at `/expires_at`, the current value is the time of the request; at `/cvm_ids`, the values are the fingerprints of the certificates. */
        ApprovalChange: {
            /**
             * @description The place in `{manifest, configuration, signature, expires_at, cvm_ids, max_runs}`, a JSON pointer.
             * @example /manifest/algorithm/hash
             */
            path: string;
            /** @description The value when the user approved. null: none. */
            approved: (string | boolean | number) | null;
            /** @description The value now. null: none. */
            current: (string | boolean | number) | null;
            /** @description The user whom the change is about. null for nobody. */
            user: string | null;
            /** @description The user who made the change. null if nobody is known. */
            by: string | null;
            /** @description The time of the change. null if it is not known. */
            at: string | null;
        };
        /** @description An approval to give. */
        ApprovalInput: {
            /**
             * @description Omit it to approve.
             * @enum {string|null}
             */
            decision?: null;
            /** @description The digest of the manifest: the SHA3-256, lower-case hex, of its canonical JSON (RFC 8785). */
            digest: string;
            /** @description The digest of the configuration: the SHA3-256, lower-case hex, of the canonical JSON (RFC 8785) of `{agent_config, approval, attestation_policy, log_access, result_review}`. `agent_config` has `cert_file`, `server_ca_file`, `client_ca_file` and `attested_tls`, with defaults. */
            configuration_digest: string;
            /** @description The CVMs that a run may use. Default: any. The approval keeps the certificate fingerprints that these CVMs have now: on a CVM with another certificate, it does not count. */
            cvm_ids?: string[] | null;
            /** @description The time before which a run must start. Default: any time. */
            expires_at?: string | null;
            /** @description The number of runs that may start on the approval. null: any. */
            max_runs?: number | null;
            /** @description The identifier of the counter of runs, a new UUID that you make for this approval. null without `max_runs`. */
            approval_id?: string | null;
            /** @description The newest event of the computation's journal that the approver saw: its `id` and `hash`. null: none is named. */
            journal_head?: components["schemas"]["JournalHead"] | null;
            /** @description A signature in base64, made with the private key of the public key that you uploaded to the computation. Sign the canonical JSON (RFC 8785), in UTF-8, of `{type: "computation-approval", domain, computation, approver, manifest_digest, configuration_digest}`, with `cvm_ids`, `expires_at`, `max_runs`, `approval_id` and `journal_head` if you send them, as you send them, identifiers in lower case. `null` counts as not given. `approver` is your `sub`. Algorithms: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes. Required if the `approval` of the computation is `all_signed`. */
            signature?: string | null;
        };
        /** @description An approval that counted when the run started. */
        ApprovalOfRun: {
            /** @description The user who approved. */
            user: string;
            /** @description The digest of the manifest that the user approved. */
            digest: string;
            /** @description The digest of the configuration that the user approved. */
            configuration_digest: string;
            /** @description The CVMs that a run could use. null: any. */
            cvm_ids: string[] | null;
            /** @description The time before which a run had to start, as the user sent it. null: any time. */
            expires_at: string | null;
            /** @description The signature of the user in base64. null if the user did not sign. */
            signature: string | null;
            /** @description The public key that verifies the signature, as DER SubjectPublicKeyInfo, base64. null if the user did not sign. */
            key: string | null;
            /** @description The number of runs that could start on the approval. null: any. */
            max_runs: number | null;
            /** @description Which of these runs this one is, from 1. null without `max_runs`. */
            use: number | null;
            /** @description The identifier of the counter of these runs. null without `max_runs`. */
            approval_id: string | null;
            /** @description The newest event of the computation's journal that the user saw. null if the user named none. */
            journal_head: components["schemas"]["JournalHead"] | null;
            /**
             * Format: date-time
             * @description The time of the approval.
             */
            approved_at: string;
        };
        /** @description A computation that needs your approval. */
        ApprovalToGive: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description Why your approval is needed: the file names of your assets that need it, and `result consumer` or `reviewer` if you must approve as one. A file of such a name is in quotes. */
            because: string[];
            /** @description The digest of the manifest to approve. */
            manifest_digest: string;
        };
        /** @description The approvals of a computation: those that a run needs, and those that were given. */
        Approvals: {
            /** @description The users whose approval a run needs, including those who have approved. */
            needed: components["schemas"]["NeededApproval"][];
            /** @description The approvals that were given, by user. */
            approvals: components["schemas"]["Approval"][];
            /** @description The refusals that stand, by user. */
            refusals: components["schemas"]["Refusal"][];
        };
        /** @description A request for a key that a party holds. */
        AskedKey: {
            /**
             * Format: uuid
             * @description The identifier of the request.
             */
            id: string;
            /**
             * Format: uuid
             * @description The asset whose key is asked for.
             */
            asset: string;
            /**
             * Format: uuid
             * @description The run whose CVM asks.
             */
            run: string;
            authorization: components["schemas"]["RunAuthorization"];
            /** @description The body of the request `attest` of the CVM, as it was posted. */
            evidence: string;
        };
        /** @description The requests for keys that wait for the broker of the caller. */
        AskedKeys: {
            /** @description The requests, oldest first. */
            releases: components["schemas"]["AskedKey"][];
        };
        /** @description An algorithm or a dataset. The content is in `asset` or behind `download`, if you may read it. */
        Asset: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the file. */
            file_name: string;
            /** @description The description. */
            description: string;
            /**
             * @description Whether the asset is an algorithm, a dataset, or the result of a run under review. You can send the first two.
             * @enum {string}
             */
            asset_type: "algorithm" | "dataset" | "result";
            /** @description The media type of the content. Empty if it is not known. */
            mime_type: string;
            /**
             * @description `pending` until the content has arrived and the service has hashed it. An asset with `source` is `ready`.
             * @enum {string}
             */
            state: "pending" | "ready";
            /** @description The size of the content in bytes. 0 while the asset is pending. null if the agent fetches it from `source`. */
            size: number | null;
            /** @description The SHA3-256 in hex. The agent verifies it. null until it is known. */
            checksum: string | null;
            /**
             * @description Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.
             * @enum {string}
             */
            content_access: "creator" | "domain";
            /**
             * @description Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.
             * @enum {string}
             */
            use: "open" | "approval";
            /** @description Where the agent fetches the file, or the key of an encrypted file that a party sends. null: none. */
            source: components["schemas"]["AssetSource"] | null;
            /** @description The key broker service that gives the agent the key of an encrypted file. null: none. */
            kbs: components["schemas"]["KeyBroker"] | null;
            /** @description Whether the agent unpacks the dataset, a ZIP file. null: none. */
            decompress: boolean | null;
            /** @description How the agent runs the algorithm. The agent takes `bin` by default. null: none. */
            algo_type: ("bin" | "python" | "wasm" | "docker") | null;
            /** @description The arguments of the algorithm: up to 100, of up to 1000 characters, 4000 together. null: none. */
            algo_args: string[] | null;
            /** @description The creator of the asset, the `sub` of a user. */
            created_by: string;
            /**
             * Format: date-time
             * @description The time of the creation.
             * @example 2025-07-17T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change.
             * @example 2025-07-17T08:00:00.000Z
             */
            updated_at: string;
            /** @description The provider's public key as DER SubjectPublicKeyInfo, base64. Empty if there is none. */
            user_key: string;
            /** @description The content in base64, up to 4 MiB decoded. */
            asset?: string;
            download?: components["schemas"]["AssetDownload"];
            upload?: components["schemas"]["AssetUpload"];
            /** @description `true` if the content is withheld because only the creator of the asset may read it. Absent otherwise. */
            content_withheld?: boolean;
            /** @description The latest 100 reads of the content by others, newest first. Returned to the creator of the asset. */
            content_reads?: components["schemas"]["ContentRead"][];
        };
        /** @description A presigned request for content. */
        AssetDownload: {
            /**
             * Format: uri
             * @description The URL of the presigned request.
             */
            url: string;
            /**
             * Format: date-time
             * @description The time until which storage accepts the request.
             * @example 2025-07-17T08:00:00.000Z
             */
            expires_at: string;
        };
        /** @description The request to create an asset. */
        AssetInput: {
            asset: components["schemas"]["AssetInputFields"];
        };
        /** @description The fields of a new asset, and its content. */
        AssetInputFields: {
            /**
             * @description The name of the file, without a path. At most 255 bytes in UTF-8, at least one visible character. The datasets of a computation have different names.
             * @example titanic.csv
             */
            file_name: string;
            /**
             * @description A description. Up to 4,000 characters.
             * @default
             */
            description?: string;
            /**
             * @description Whether the asset is an algorithm or a dataset.
             * @enum {string}
             */
            asset_type: "algorithm" | "dataset";
            /**
             * @description The media type of the content. Empty if it is not known.
             * @default
             * @example text/csv
             */
            mime_type?: string;
            /** @description The content in base64, up to 4 MiB decoded. If omitted, upload the content with the presigned request in the response. */
            asset?: string;
            /**
             * @description The provider's RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file. Empty for none.
             * @default
             */
            user_key?: string;
            /**
             * @description Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.
             * @default creator
             * @enum {string}
             */
            content_access?: "creator" | "domain";
            /**
             * @description Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.
             * @default open
             * @enum {string}
             */
            use?: "open" | "approval";
            /** @description Where the agent fetches the file, or the key of an encrypted file that a party sends. null: none. */
            source?: components["schemas"]["AssetSource"] | null;
            /** @description The key broker service that gives the agent the key of an encrypted file. null: none. */
            kbs?: components["schemas"]["KeyBroker"] | null;
            /** @description Whether the agent unpacks the dataset, a ZIP file. null: none. */
            decompress?: boolean | null;
            /** @description How the agent runs the algorithm. The agent takes `bin` by default. null: none. */
            algo_type?: ("bin" | "python" | "wasm" | "docker") | null;
            /** @description The arguments of the algorithm: up to 100, of up to 1000 characters, 4000 together. null: none. */
            algo_args?: string[] | null;
            /** @description The SHA3-256 in hex. If you send `asset`, it must be the hash of that content. If you omit `asset`, it is the hash of the real file, and you may upload a sample in its place. Required with `source`. */
            checksum?: string;
        };
        /** @description The key of an encrypted file, without the key itself. */
        AssetKey: {
            /** @description The number of the key, from 1. It grows with each other key. */
            number: number;
            /** @description The SHA-256 of the key in hex. */
            fingerprint: string;
            /**
             * @description Who holds the key and can open it. `service`: the service. `party`: the creator of the asset, with a broker.
             * @enum {string}
             */
            held: "service" | "party";
            /** @description Which CVMs may get the key, beside the policy of the computation. null: that of the computation decides. */
            release_policy: components["schemas"]["AttestationPolicy"] | null;
            /** @description How often keys of the asset were released. */
            releases: number;
            /** @description The time of the last release. null: none. */
            last_released_at: string | null;
        };
        /** @description The key of an encrypted file. */
        AssetKeyInput: components["schemas"]["KeyHeldByService"] | components["schemas"]["KeyHeldByParty"];
        /** @description An asset that is linked to a computation. */
        AssetOfComputation: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the file. */
            file_name: string;
            /**
             * @description Whether the asset is an algorithm or a dataset.
             * @enum {string}
             */
            asset_type: "algorithm" | "dataset";
        };
        /** @description An asset as it was when the run started. */
        AssetOfRun: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             */
            id: string;
            /** @description The creator of the asset. */
            creator: string;
            /**
             * @description The `use` of the asset when the run started.
             * @enum {string}
             */
            use: "open" | "approval";
            /** @description The SHA3-256 in hex, as in the manifest. */
            checksum: string;
            /** @description The key of the asset, which is released to the CVM alone. null without one. */
            key: components["schemas"]["KeyOfAsset"] | null;
        };
        /** @description A page of the list of assets. */
        AssetPage: {
            /** @description The assets, newest first. */
            assets: components["schemas"]["AssetRow"][];
            /**
             * Format: int32
             * @description The `limit` of the request, or its default.
             */
            limit: number;
            /**
             * Format: int64
             * @description The `offset` of the request, or 0.
             */
            offset: number;
            /**
             * Format: int64
             * @description The exact number of entries that match the filter.
             */
            total: number;
        };
        /** @description The request to replace the fields of an asset. */
        AssetReplacement: {
            asset: components["schemas"]["AssetReplacementFields"];
        };
        /** @description All fields of an asset. If `description` or `mime_type` is omitted, it becomes empty. Other optional fields then stay the same. */
        AssetReplacementFields: {
            /**
             * @description The name of the file, without a path. At most 255 bytes in UTF-8, at least one visible character. The datasets of a computation have different names.
             * @example titanic.csv
             */
            file_name: string;
            /**
             * @description A description. Up to 4,000 characters.
             * @default
             */
            description?: string;
            /**
             * @description Whether the asset is an algorithm, a dataset, or the result of a run under review. You can send the first two.
             * @enum {string}
             */
            asset_type: "algorithm" | "dataset" | "result";
            /**
             * @description The media type of the content. Empty if it is not known.
             * @default
             * @example text/csv
             */
            mime_type?: string;
            /** @description New content in base64, up to 4 MiB decoded. If omitted, the content stays as it is. While the asset is pending, the response to its creator then has an `upload`. */
            asset?: string;
            /** @description The provider's RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file. Empty for none. */
            user_key?: string;
            /**
             * @description Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.
             * @enum {string}
             */
            content_access?: "creator" | "domain";
            /**
             * @description Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.
             * @enum {string}
             */
            use?: "open" | "approval";
            /** @description Where the agent fetches the file, or the key of an encrypted file that a party sends. null: none. */
            source?: components["schemas"]["AssetSource"] | null;
            /** @description The key broker service that gives the agent the key of an encrypted file. null: none. */
            kbs?: components["schemas"]["KeyBroker"] | null;
            /** @description Whether the agent unpacks the dataset, a ZIP file. null: none. */
            decompress?: boolean | null;
            /** @description How the agent runs the algorithm. The agent takes `bin` by default. null: none. */
            algo_type?: ("bin" | "python" | "wasm" | "docker") | null;
            /** @description The arguments of the algorithm: up to 100, of up to 1000 characters, 4000 together. null: none. */
            algo_args?: string[] | null;
            /** @description The SHA3-256 in hex. If you send `asset`, it must be the hash of that content. If you omit `asset`, it is the hash of the real file, and the content may be a sample. If omitted or null, it stays the same. Exception: for new content, the service computes it, unless it is the hash of a real file. */
            checksum?: string | null;
            /** @description Ignored. The service sets this field. */
            id?: unknown;
            /** @description Ignored. The service sets this field. */
            state?: unknown;
            /** @description Ignored. The service sets this field. */
            size?: unknown;
            /** @description Ignored. The service sets this field. */
            created_by?: unknown;
            /** @description Ignored. The service sets this field. */
            created_at?: unknown;
            /** @description Ignored. The service sets this field. */
            updated_at?: unknown;
            /** @description Ignored. The service sets this field. */
            upload?: unknown;
            /** @description Ignored. The service sets this field. */
            download?: unknown;
            /** @description Ignored. The service sets this field. */
            content_withheld?: unknown;
            /** @description Ignored. The service sets this field. */
            content_reads?: unknown;
        };
        /** @description An asset in a list, without its content and key. */
        AssetRow: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the file. */
            file_name: string;
            /** @description The description. */
            description: string;
            /**
             * @description Whether the asset is an algorithm, a dataset, or the result of a run under review. You can send the first two.
             * @enum {string}
             */
            asset_type: "algorithm" | "dataset" | "result";
            /** @description The media type of the content. Empty if it is not known. */
            mime_type: string;
            /**
             * @description `pending` until the content has arrived and the service has hashed it. An asset with `source` is `ready`.
             * @enum {string}
             */
            state: "pending" | "ready";
            /** @description The size of the content in bytes. 0 while the asset is pending. null if the agent fetches it from `source`. */
            size: number | null;
            /** @description The SHA3-256 in hex. The agent verifies it. null until it is known. */
            checksum: string | null;
            /**
             * @description Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.
             * @enum {string}
             */
            content_access: "creator" | "domain";
            /**
             * @description Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.
             * @enum {string}
             */
            use: "open" | "approval";
            /** @description Where the agent fetches the file, or the key of an encrypted file that a party sends. null: none. */
            source: components["schemas"]["AssetSource"] | null;
            /** @description The key broker service that gives the agent the key of an encrypted file. null: none. */
            kbs: components["schemas"]["KeyBroker"] | null;
            /** @description Whether the agent unpacks the dataset, a ZIP file. null: none. */
            decompress: boolean | null;
            /** @description How the agent runs the algorithm. The agent takes `bin` by default. null: none. */
            algo_type: ("bin" | "python" | "wasm" | "docker") | null;
            /** @description The arguments of the algorithm: up to 100, of up to 1000 characters, 4000 together. null: none. */
            algo_args: string[] | null;
            /** @description The creator of the asset, the `sub` of a user. */
            created_by: string;
            /**
             * Format: date-time
             * @description The time of the creation.
             * @example 2025-07-17T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change.
             * @example 2025-07-17T08:00:00.000Z
             */
            updated_at: string;
        };
        /** @description Where the agent fetches the file, or the key of an encrypted file that a party sends. */
        AssetSource: {
            /**
             * @description What the agent fetches from. It fits the scheme of `url`. Required with `url`.
             * @enum {string}
             */
            type?: "oci-image" | "gcs" | "https" | "http";
            /** @description The address, which everyone in the domain reads: `docker://`, `oci://`, `gs://`, `https://` or `http://`. Omitted: a party sends the file, encrypted, to the agent. */
            url?: string;
            /** @description The path of the key that decrypts the file, in the key broker service `kbs`. Omitted: the file is not encrypted. */
            kbs_resource_path?: string;
        };
        /** @description A presigned request with which the creator uploads the content of a pending asset. Send the headers in `headers`. You can also send any `content-type`. The content is the bytes as you send them, whatever `content-encoding` says. */
        AssetUpload: {
            /**
             * @description The method of the presigned request.
             * @constant
             */
            method: "PUT";
            /** @description The headers to send, by name. */
            headers: {
                [key: string]: string;
            };
            /**
             * Format: uri
             * @description The URL of the presigned request.
             */
            url: string;
            /**
             * Format: date-time
             * @description The time until which storage accepts the request.
             * @example 2025-07-17T08:00:00.000Z
             */
            expires_at: string;
            /** @description Why the content that was uploaded last could not be taken. Upload it again. Only in answers of `GET`. */
            problem?: string;
        };
        /** @description A check of attestation evidence. */
        AttestationCheck: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether it passed. */
            passed: boolean;
            /** @description What was found, or why the check failed. */
            detail: string;
        };
        /** @description What the service found in the attestation evidence of the present agent process of a CVM. */
        AttestationOfCvm: {
            /** @description `snp`, `tdx`, `snp-vtpm`, `az-snp-vtpm`, `az-tdx-vtpm`, or the name of a platform that is not supported. */
            platform: string;
            /**
             * Format: date-time
             * @description When the service verified the evidence.
             * @example 2025-07-17T08:00:00.000Z
             */
            verified_at: string;
            /**
             * @description `verified`: all checks passed. `refused`: at least one failed. `unsupported`: the service cannot verify this kind of evidence.
             * @enum {string}
             */
            verdict: "verified" | "refused" | "unsupported";
            /** @description Every check, with what was found. */
            checks: components["schemas"]["AttestationCheck"][];
            /** @description What the CVM booted, 96 hex digits. null unless its signature holds. */
            measurement: string | null;
            /** @description The versions of firmware and microcode. null unless the signature holds. */
            tcb: (components["schemas"]["SnpTcb"] | components["schemas"]["TdxTcb"]) | null;
            /** @description The SHA-256, hex, of the token that was verified. */
            token_hash: string;
            /**
             * @description `attested` while the connection is open over which the evidence came. `reconnected`: it is closed. Then no run with an `attestation_policy` starts on the CVM until its agent is restarted, but for policies that allow reconnects.
             * @enum {string}
             */
            connection: "attested" | "reconnected";
        };
        /** @description The attestation of the agent process that has or had a run. */
        AttestationOfRun: {
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            run_id: string;
            /** @description What the service found. null until a token of the agent process is verified. */
            verdict: ("verified" | "refused" | "unsupported") | null;
            /** @description Every check, with what was found. Empty until a token is verified. */
            checks: components["schemas"]["AttestationCheck"][];
            /** @description The tokens of the agent process. Verify them yourself. Of more than 4, 5 are kept, and no policy is satisfied. */
            tokens: components["schemas"]["AttestationToken"][];
        };
        /** @description What the service found in the attestation of the agent process that had the run. */
        AttestationOfStatement: {
            /**
             * @description What the service found.
             * @enum {string}
             */
            verdict: "verified" | "refused" | "unsupported";
            /** @description Every check, with what was found. */
            checks: components["schemas"]["AttestationCheck"][];
            /** @description The tokens of the agent process. */
            tokens: components["schemas"]["TokenOfStatement"][];
        };
        /** @description Which CVMs may run a computation. A run starts only on a CVM whose verified attestation satisfies it. */
        AttestationPolicy: {
            /** @description The platforms that a CVM may have: `az-snp-vtpm`, `az-tdx-vtpm`, `snp`, `snp-vtpm`, `tdx`. Returned sorted. */
            platforms: ("az-snp-vtpm" | "az-tdx-vtpm" | "snp" | "snp-vtpm" | "tdx")[];
            /** @description The measurements that a CVM may have, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0, RTMR1 and RTMR2. Returned sorted, in lower case, each once. */
            measurements: string[];
            /** @description The values that PCRs of a vTPM must have, in its bank of SHA-256: 64 hex digits each, by the number of the PCR. null: any. */
            pcrs: components["schemas"]["Pcrs"] | null;
            /**
             * Format: int32
             * @description SNP: the highest privilege level (VMPL) from which the guest may ask for its report, 0 to 3. Default 0. A standard Cocos machine needs 2. With 1 to 3, software below the measured paravisor may have asked for the report.
             */
            vmpl: number;
            /** @description The least versions of an SNP machine. null: any. */
            minimum_tcb: components["schemas"]["MinimumTcb"] | null;
            /** @description TDX: Intel's statuses of the versions that a CVM may have. Default `UpToDate` alone. Returned sorted. */
            accepted_tcb_statuses: ("ConfigurationAndSWHardeningNeeded" | "ConfigurationNeeded" | "OutOfDate" | "OutOfDateConfigurationNeeded" | "SWHardeningNeeded" | "UpToDate")[];
            /** @description TDX: Intel's advisories about the versions that a CVM may have. Default none. Returned sorted. */
            accepted_advisories: string[];
            /** @description Whether the host may debug the CVM. Default `false`. */
            allow_debug: boolean;
            /** @description Whether a run may go on over a later connection with the same certificate than the one that attested. Default `false`. */
            allow_reconnect: boolean;
            /** @description SNP: whether a guest that accepted another run before may have the run. Default `false`. */
            allow_used_guest: boolean;
        };
        /** @description Which CVMs may run a computation. A run starts only on a CVM whose verified attestation satisfies it. */
        AttestationPolicyInput: {
            /** @description The platforms that a CVM may have: `az-snp-vtpm`, `az-tdx-vtpm`, `snp`, `snp-vtpm`, `tdx`. Returned sorted. */
            platforms: ("az-snp-vtpm" | "az-tdx-vtpm" | "snp" | "snp-vtpm" | "tdx")[];
            /** @description The measurements that a CVM may have, 96 hex digits each. SNP: the launch measurement. TDX: the SHA-384 of MRTD, RTMR0, RTMR1 and RTMR2. Returned sorted, in lower case, each once. */
            measurements: string[];
            /** @description The values that PCRs of a vTPM must have, in its bank of SHA-256: 64 hex digits each, by the number of the PCR. null: any. */
            pcrs?: components["schemas"]["Pcrs"] | null;
            /**
             * Format: int32
             * @description SNP: the highest privilege level (VMPL) from which the guest may ask for its report, 0 to 3. Default 0. A standard Cocos machine needs 2. With 1 to 3, software below the measured paravisor may have asked for the report.
             * @default 0
             */
            vmpl?: number;
            /** @description The least versions of an SNP machine. null: any. */
            minimum_tcb?: components["schemas"]["MinimumTcbInput"] | null;
            /** @description TDX: Intel's statuses of the versions that a CVM may have. Default `UpToDate` alone. Returned sorted. */
            accepted_tcb_statuses?: ("ConfigurationAndSWHardeningNeeded" | "ConfigurationNeeded" | "OutOfDate" | "OutOfDateConfigurationNeeded" | "SWHardeningNeeded" | "UpToDate")[];
            /** @description TDX: Intel's advisories about the versions that a CVM may have. Default none. Returned sorted. */
            accepted_advisories?: string[];
            /**
             * @description Whether the host may debug the CVM. Default `false`.
             * @default false
             */
            allow_debug?: boolean;
            /**
             * @description Whether a run may go on over a later connection with the same certificate than the one that attested. Default `false`.
             * @default false
             */
            allow_reconnect?: boolean;
            /**
             * @description SNP: whether a guest that accepted another run before may have the run. Default `false`.
             * @default false
             */
            allow_used_guest?: boolean;
        };
        /** @description A token that the agent process of the run sent. */
        AttestationToken: {
            /** @description The kind of the token, as its reporter named it. */
            kind: string;
            /** @description The SHA-256 of the token, hex. */
            hash: string;
            /**
             * Format: int64
             * @description The size of the token in bytes.
             */
            size: number;
            download: components["schemas"]["AssetDownload"];
        };
        /** @description The sealed key, or a refusal. */
        BrokersAnswer: components["schemas"]["RefusedKey"] | components["schemas"]["ReleasedKey"];
        /** @description A command for a CVM. */
        Command: {
            /**
             * Format: uuid
             * @description The identifier of the command, for the report that answers it.
             */
            id: string;
            /**
             * @description Whether to begin the run or to stop it.
             * @enum {string}
             */
            type: "run" | "stop";
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            run_id: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            manifest?: components["schemas"]["Manifest"];
            agent_config?: components["schemas"]["AgentConfigForCvm"];
            /**
             * Format: date-time
             * @description The time at which the service made the command.
             * @example 2025-07-17T08:00:00.000Z
             */
            issued_at: string;
            /**
             * Format: date-time
             * @description The service returns the command until this time, or until the CVM accepts or rejects it.
             * @example 2025-07-17T08:00:00.000Z
             */
            expires_at: string;
        };
        /** @description The open commands of a CVM, and the run that holds it. */
        CommandList: {
            /** @description The open commands of the CVM, oldest first. */
            commands: components["schemas"]["Command"][];
            /** @description The active run that holds the CVM. null if none does. */
            run: components["schemas"]["HeldRun"] | null;
        };
        /** @description A computation with its configuration, its linked assets and its latest run. */
        Computation: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description The description. */
            description: string;
            /** @description The owner, a user's `sub`. */
            owner: string;
            /**
             * @description The status of the computation: `created` until its first run, then the status of its latest run.
             * @enum {string}
             */
            status: "created" | "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: date-time
             * @description The time of the creation.
             * @example 2025-07-17T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change.
             * @example 2025-07-17T08:00:00.000Z
             */
            updated_at: string;
            agent_config: components["schemas"]["AgentConfig"];
            /**
             * @description Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the creators of all assets, all reviewers and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but not lower it.
             * @enum {string}
             */
            approval: "none" | "all" | "all_signed";
            /**
             * @description Who may read the logs of runs. `none`: nobody. `parties`: the owner, the result consumers, and the creators of assets if `approval` is not `none` or `providers` is set. A run keeps the setting with which it started.
             * @enum {string}
             */
            log_access: "none" | "parties";
            /** @description Which CVMs may run the computation. null: any. */
            attestation_policy: components["schemas"]["AttestationPolicy"] | null;
            /** @description Who decides on the release of results. null: results go to the result consumers without a review. */
            result_review: components["schemas"]["ResultReview"] | null;
            /** @description The result consumers in addition to the owner. If empty: all users who had the role `result_consumer` when they uploaded a key. */
            consumers: string[];
            /** @description The users who may link their own assets, beside the owner and administrators. If empty: all users. */
            providers: string[];
            /** @description The linked assets: the algorithm, then the datasets in the order in which they were linked. */
            assets: components["schemas"]["AssetOfComputation"][];
            /** @description The users who take part and those whom the computation names. The owner first. Takes into account the keys, approvals and refusals of 500 users each, in the order of their identifiers, and those of all named users. */
            parties: components["schemas"]["Party"][];
            /** @description The latest run. null if the computation was never run. */
            run: components["schemas"]["Run"] | null;
        };
        /** @description The request to create a computation. */
        ComputationInput: {
            /**
             * @description The name. 1 to 200 characters, at least one of them visible, no control characters.
             * @example Average income by region
             */
            name: string;
            /**
             * @description A description. Up to 4,000 characters.
             * @default
             */
            description?: string;
            /** @description The owner, a user's `sub`. Default: the caller. Only administrators can set another user. */
            owner?: string;
            agent_config?: components["schemas"]["AgentConfigInput"];
            /**
             * @description Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the creators of all assets, all reviewers and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but not lower it.
             * @default none
             * @enum {string}
             */
            approval?: "none" | "all" | "all_signed";
            /**
             * @description Who may read the logs of runs. `none`: nobody. `parties`: the owner, the result consumers, and the creators of assets if `approval` is not `none` or `providers` is set. A run keeps the setting with which it started.
             * @default none
             * @enum {string}
             */
            log_access?: "none" | "parties";
            /** @description Which CVMs may run the computation. null: any. */
            attestation_policy?: components["schemas"]["AttestationPolicyInput"] | null;
            /** @description Who decides on the release of results. null: results go to the result consumers without a review. With it, `consumers` must name users, and no reviewer may be a consumer or the owner. */
            result_review?: components["schemas"]["ResultReviewInput"] | null;
            /** @description The result consumers in addition to the owner: up to 40 users (`sub`). If empty: all users who had the role `result_consumer` when they uploaded a key. */
            consumers?: string[];
            /** @description The users who may link their own assets, beside the owner and administrators: up to 100 (`sub`). If empty: all users. */
            providers?: string[];
        };
        /** @description A page of a list of computations. */
        ComputationPage: {
            /** @description The computations, newest first, or the last changed first with `sort=updated`. */
            computations: components["schemas"]["ComputationRow"][];
            /**
             * Format: int32
             * @description The `limit` of the request, or its default.
             */
            limit: number;
            /**
             * Format: int64
             * @description The `offset` of the request, or 0.
             */
            offset: number;
            /**
             * Format: int64
             * @description The exact number of entries that match the filter.
             */
            total: number;
        };
        /** @description All fields of a computation. If `owner`, `approval`, `log_access`, `attestation_policy`, `result_review`, `consumers` or `providers` is omitted, it stays the same. Other omitted fields get their defaults. */
        ComputationReplacement: {
            /**
             * @description The name. 1 to 200 characters, at least one of them visible, no control characters.
             * @example Average income by region
             */
            name: string;
            /**
             * @description A description. Up to 4,000 characters.
             * @default
             */
            description?: string;
            /** @description The owner, a user's `sub`. If omitted, stays the same. Only administrators can set another user. */
            owner?: string;
            agent_config?: components["schemas"]["AgentConfigInput"];
            /**
             * @description Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the creators of all assets, all reviewers and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but not lower it.
             * @enum {string}
             */
            approval?: "none" | "all" | "all_signed";
            /**
             * @description Who may read the logs of runs. `none`: nobody. `parties`: the owner, the result consumers, and the creators of assets if `approval` is not `none` or `providers` is set. A run keeps the setting with which it started.
             * @enum {string}
             */
            log_access?: "none" | "parties";
            /** @description Which CVMs may run the computation. null: any. */
            attestation_policy?: components["schemas"]["AttestationPolicyInput"] | null;
            /** @description Who decides on the release of results. null: results go to the result consumers without a review. With it, `consumers` must name users, and no reviewer may be a consumer or the owner. */
            result_review?: components["schemas"]["ResultReviewInput"] | null;
            /** @description The result consumers in addition to the owner: up to 40 users (`sub`). If empty: all users who had the role `result_consumer` when they uploaded a key. */
            consumers?: string[];
            /** @description The users who may link their own assets, beside the owner and administrators: up to 100 (`sub`). If empty: all users. */
            providers?: string[];
            /** @description Ignored. The service sets this field. */
            id?: unknown;
            /** @description Ignored. The service sets this field. */
            status?: unknown;
            /** @description Ignored. The service sets this field. */
            created_at?: unknown;
            /** @description Ignored. The service sets this field. */
            updated_at?: unknown;
            /** @description Ignored. The service sets this field. */
            assets?: unknown;
            /** @description Ignored. The service sets this field. */
            parties?: unknown;
            /** @description Ignored. The service sets this field. */
            run?: unknown;
        };
        /** @description A computation in a list. */
        ComputationRow: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description The description. */
            description: string;
            /** @description The owner, a user's `sub`. */
            owner: string;
            /**
             * @description The status of the computation: `created` until its first run, then the status of its latest run.
             * @enum {string}
             */
            status: "created" | "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: date-time
             * @description The time of the creation.
             * @example 2025-07-17T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change.
             * @example 2025-07-17T08:00:00.000Z
             */
            updated_at: string;
        };
        /** @description A computation. With `peek=true`, only the fields of a row of the list. */
        ComputationView: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description The description. */
            description: string;
            /** @description The owner, a user's `sub`. */
            owner: string;
            /**
             * @description The status of the computation: `created` until its first run, then the status of its latest run.
             * @enum {string}
             */
            status: "created" | "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: date-time
             * @description The time of the creation.
             * @example 2025-07-17T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change.
             * @example 2025-07-17T08:00:00.000Z
             */
            updated_at: string;
            agent_config?: components["schemas"]["AgentConfig"];
            /**
             * @description Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the creators of all assets, all reviewers and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but not lower it.
             * @enum {string}
             */
            approval?: "none" | "all" | "all_signed";
            /**
             * @description Who may read the logs of runs. `none`: nobody. `parties`: the owner, the result consumers, and the creators of assets if `approval` is not `none` or `providers` is set. A run keeps the setting with which it started.
             * @enum {string}
             */
            log_access?: "none" | "parties";
            /** @description Which CVMs may run the computation. null: any. */
            attestation_policy?: components["schemas"]["AttestationPolicy"] | null;
            /** @description Who decides on the release of results. null: results go to the result consumers without a review. */
            result_review?: components["schemas"]["ResultReview"] | null;
            /** @description The result consumers in addition to the owner. If empty: all users who had the role `result_consumer` when they uploaded a key. */
            consumers?: string[];
            /** @description The users who may link their own assets, beside the owner and administrators. If empty: all users. */
            providers?: string[];
            /** @description The linked assets: the algorithm, then the datasets in the order in which they were linked. */
            assets?: components["schemas"]["AssetOfComputation"][];
            /** @description The users who take part and those whom the computation names. The owner first. Takes into account the keys, approvals and refusals of 500 users each, in the order of their identifiers, and those of all named users. */
            parties?: components["schemas"]["Party"][];
            /** @description The latest run. null if the computation was never run. */
            run?: components["schemas"]["Run"] | null;
        };
        /** @description The configuration that the run was started with. */
        ConfigurationOfRun: {
            agent_config: components["schemas"]["CoveredAgentConfig"];
            /**
             * @description The computation's `approval` when the run started: whose approval a run required.
             * @enum {string}
             */
            approval: "none" | "all" | "all_signed";
            /** @description Which CVMs the run could use. null: any. */
            attestation_policy: components["schemas"]["AttestationPolicy"] | null;
            /**
             * @description Who could read the log of the run.
             * @enum {string}
             */
            log_access: "none" | "parties";
            /** @description Who decides on the release of the result, and who gets it then. null: nobody. */
            result_review: components["schemas"]["CoveredReview"] | null;
        };
        /** @description A read of the content by another user than the creator of the asset. */
        ContentRead: {
            /** @description The user who read the content. */
            user: string;
            /**
             * Format: date-time
             * @description The time of the read.
             * @example 2025-07-17T08:00:00.000Z
             */
            read_at: string;
        };
        /** @description An asset of yours without content. */
        ContentToUpload: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            asset_id: string;
            /** @description The name of the file. */
            file_name: string;
        };
        /** @description What approvals cover of the configuration of the agent. */
        CoveredAgentConfig: {
            /** @description The certificate of the agent, as PEM text or as a path inside the CVM. Up to 16 KiB. */
            cert_file: string;
            /** @description The CA certificate that the agent trusts for servers, as PEM text or as a path inside the CVM. Up to 16 KiB. */
            server_ca_file: string;
            /** @description The CA certificate that the agent trusts for clients, as PEM text or as a path inside the CVM. Up to 16 KiB. */
            client_ca_file: string;
            /** @description Whether the agent uses attested TLS. Default `false`. */
            attested_tls: boolean;
        };
        /** @description Who reviews results before their release, and who gets them then. */
        CoveredReview: {
            /** @description The users who fetch results from the CVM and decide on their release. */
            reviewers: string[];
            /** @description How many reviewers must release a result before its consumers get it. */
            needed: number;
            /** @description The users who get a released result: the named consumers and the owner, sorted. */
            consumers: string[];
        };
        /** @description A registered CVM. */
        Cvm: {
            /**
             * @description The identifier of the CVM.
             * @example sim-1
             */
            id: string;
            /** @description The description. */
            description: string;
            /** @description The certificate that the CVM presents, in PEM, as it was registered. null if none is registered. */
            certificate: string | null;
            /** @description The SHA-256 of the certificate in DER, 64 hex digits. null if none is registered. */
            certificate_fingerprint: string | null;
            /** @description Where parties reach the agent, `host:port`. null if it is not registered. */
            agent_url: string | null;
            /** @description The attestation of the present agent process with the present certificate. null until it is known. */
            attestation: components["schemas"]["AttestationOfCvm"] | null;
            /**
             * Format: date-time
             * @description The time of the creation.
             * @example 2025-07-17T08:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the last change.
             * @example 2025-07-17T08:00:00.000Z
             */
            updated_at: string;
            presence: components["schemas"]["Presence"];
        };
        /** @description A page of the list of CVMs. */
        CvmPage: {
            /** @description The registered CVMs, newest first. */
            cvms: components["schemas"]["Cvm"][];
            /**
             * Format: int32
             * @description The `limit` of the request, or its default.
             */
            limit: number;
            /**
             * Format: int64
             * @description The `offset` of the request, or 0.
             */
            offset: number;
            /**
             * Format: int64
             * @description The exact number of entries that match the filter.
             */
            total: number;
        };
        /** @description The request to register a CVM, or to change it. */
        CvmRegistration: {
            /** @description A description. Up to 4,000 characters. */
            description: string;
            /** @description The certificate that the CVM presents: one X.509 certificate in PEM, up to 16 KiB. Omit it to keep the current certificate. `null` removes it. */
            certificate?: string | null;
            /** @description Where parties reach the agent: `host:port`. The host is a DNS name, an IPv4 address or an IPv6 address in brackets. Omit it to keep the current one. `null` removes it. */
            agent_url?: string | null;
            /** @description Ignored. The service sets this field. */
            id?: unknown;
            /** @description Ignored. The service sets this field. */
            attestation?: unknown;
            /** @description Ignored. The service sets this field. */
            certificate_fingerprint?: unknown;
            /** @description Ignored. The service sets this field. */
            created_at?: unknown;
            /** @description Ignored. The service sets this field. */
            updated_at?: unknown;
            /** @description Ignored. The service sets this field. */
            presence?: unknown;
        };
        /** @description The approval that was given, or the refusal. */
        Decision: components["schemas"]["Approval"] | components["schemas"]["Refusal"];
        /** @description An approval to give, or a refusal. */
        DecisionInput: components["schemas"]["RefusalInput"] | components["schemas"]["ApprovalInput"];
        /** @description The result of the check before a run. */
        DryRun: {
            missing_items: components["schemas"]["MissingItems"];
            /**
             * @description What may be a mistake and keeps no run from starting: datasets with the same content, or names that look the same. Absent if there is none.
             * @example [
             *       "\"penguins.csv\" and \"copy.csv\" have the same content"
             *     ]
             */
            warnings?: string[];
        };
        /** @description An event in the journal of a computation. */
        Event: {
            /**
             * Format: uuid
             * @description The identifier of the event, a UUID.
             * @example 00000000-0004-8d6c-8a43-5d0f5f0e7c11
             */
            id: string;
            /**
             * @description The type of the event. Lifecycle: `created`, `started`, `stop_requested`, `completed`, `failed`, `cancelled`. Administrative changes: `updated`, `owner_changed`, `asset_linked`, `asset_unlinked`, `key_uploaded`, `key_removed`, `approved`, `approval_withdrawn`, `approval_refused`, `result_submitted`, `result_decided`, `result_released`, `result_withheld`, `key_released`, `key_refused`. Recorded by a gateway: `Attestation`, `Reconnected`, `IdentityConflict`, `StreamRefused`. Any other type is the name of an event that the agent in the CVM reported.
             * @example started
             * @example completed
             */
            event_type: string;
            /**
             * @description The details in base64: a JSON object in UTF-8, or the bytes that an agent sent.
             * @example e30=
             */
            details: string;
            /**
             * @description The run that the event belongs to. Empty if it belongs to none.
             * @example 00000000-002a-8b1f-9c3d-6f1a2b3c4d5e
             */
            run_id: string;
            /**
             * Format: date-time
             * @description The time when the service recorded the event, UTC. Never decreases.
             * @example 2025-07-17T08:00:00.000Z
             */
            timestamp: string;
            /**
             * @description The originator of the event: a user, `system`, or the part of the CVM that reported it.
             * @example system
             * @example agent
             */
            originator: string;
            /**
             * @description The CVM on which the event happened. Empty if there was none.
             * @example cvm-1
             */
            cvm_id: string;
            /**
             * @description `success` or `failure`. Events of an agent have the agent's own status.
             * @example success
             */
            status: string;
            /**
             * @description The `hash` of the previous event of the computation. Empty in the first event.
             * @example
             */
            previous_hash: string;
            /**
             * @description The SHA-256, hex, of the canonical JSON (RFC 8785) of the event without `hash`.
             * @example b7e3b1f1ad8f0b0e0a8c4b7a4f0f2f5d6a9c1e3d5b7f9a1c3e5d7b9f1a3c5e7d
             */
            hash: string;
        };
        /** @description A page of the journal of a computation. */
        EventPage: {
            /** @description The events, newest first. With `after`: oldest first. */
            events: components["schemas"]["Event"][];
            /**
             * Format: int32
             * @description The `limit` of the request, or its default.
             */
            limit: number;
            /**
             * Format: int64
             * @description The `offset` of the request, or 0.
             */
            offset: number;
            /**
             * Format: int64
             * @description The exact number of entries that match the filter.
             */
            total: number;
        };
        /** @description An event of the agent in the CVM. */
        EventReport: {
            /**
             * @description The kind of the report.
             * @constant
             */
            type: "event";
            /** @description An identifier that you choose. A second report with it on the same run is counted as a duplicate and ignored. */
            id: string;
            /** @description The run that the report is about. */
            run_id: string;
            /**
             * @description The agent's name for the event.
             * @example Running
             */
            event_type: string;
            /**
             * @description The agent's status.
             * @example InProgress
             */
            status: string;
            /** @description Details in base64, stored unchanged. Up to 32 KiB. */
            details?: string;
            /**
             * @description The part of the CVM that the event comes from. Default `agent`.
             * @default agent
             * @enum {string}
             */
            originator?: "agent" | "computation-runner";
            /** @description The reason. Up to 1,000 characters. It becomes the reason of the run if the event ends the run. */
            reason?: string;
            /**
             * Format: date-time
             * @description The time by the reporter's clock. If `details` is omitted, it is stored in the details of the event. It does not affect the order of events.
             * @example 2025-07-17T08:00:00.000Z
             */
            occurred_at?: string;
        };
        /** @description The event that started the run and the event that ended it. Their hashes commit to the events between them. */
        EventsOfRun: {
            started: components["schemas"]["Event"];
            last: components["schemas"]["Event"];
        };
        /** @description A statement about a run, with the signature of the service. */
        Evidence: {
            statement: components["schemas"]["EvidenceStatement"];
            /** @description ES256 over the canonical JSON (RFC 8785) of `statement`: r and s, base64url. */
            signature: string;
            /** @description The `kid` of the key in `/.well-known/jwks.json`. */
            key_id: string;
            log: components["schemas"]["LogOfEvidence"];
        };
        /** @description What the service states about a run that has ended. */
        EvidenceStatement: {
            /**
             * @description The form of the statement.
             * @constant
             */
            type: "computation-evidence:v1";
            /**
             * @description The identifier of the domain.
             * @example d1
             */
            domain: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation: string;
            run: components["schemas"]["RunOfStatement"];
            manifest: components["schemas"]["Manifest"];
            /** @description The SHA3-256, hex, of the canonical JSON of `manifest`. */
            manifest_digest: string;
            configuration: components["schemas"]["ConfigurationOfRun"];
            /** @description The SHA3-256, hex, of the canonical JSON of `configuration`. */
            configuration_digest: string;
            /** @description The algorithm, then the datasets in the order of the manifest. */
            assets: components["schemas"]["AssetOfRun"][];
            /**
             * @description The computation's `approval` when the run started: whose approval a run required.
             * @enum {string}
             */
            approval: "none" | "all" | "all_signed";
            /** @description The users of `result_consumers` in the manifest, in its order. With a review, the users who get a released result, sorted. */
            result_consumers: string[];
            /** @description The approvals that counted when the run started. */
            approvals: components["schemas"]["ApprovalOfRun"][];
            events: components["schemas"]["EventsOfRun"];
            /** @description What the service found in the attestation of the agent process. null if it verified no token. */
            attestation: components["schemas"]["AttestationOfStatement"] | null;
            /** @description The certificate of the CVM in PEM, as it was registered when the run started. null without one. */
            certificate: string | null;
            /** @description The SHA-256, hex, of the DER of `certificate`. null without one. */
            certificate_fingerprint: string | null;
            log: components["schemas"]["StatedLog"];
            /** @description The version of the service that made the statement. */
            service_version: string;
            /**
             * Format: date-time
             * @description The time at which the statement was made.
             * @example 2025-07-17T08:00:00.000Z
             */
            issued_at: string;
        };
        /** @description An error of API Gateway, for a request that did not reach the service. */
        GatewayMessage: {
            /**
             * @description What went wrong.
             * @example Unauthorized
             */
            message: string;
        };
        /** @description The health of the service. */
        Health: {
            /**
             * @description `ok`: the service answers.
             * @constant
             */
            status: "ok";
            /** @description The deployed stage. */
            stage: string;
            /** @description The version of the service. */
            version: string;
        };
        /** @description The CVM is alive. */
        HeartbeatReport: {
            /**
             * @description The kind of the report.
             * @constant
             */
            type: "heartbeat";
            /** @description Returned in the results. A heartbeat is never a duplicate. */
            id?: string;
            /** @description The run that the CVM works on. The heartbeat shows that the run is alive. */
            run_id?: string;
            /**
             * @description The state of the agent, as it names it.
             * @example Running
             */
            agent_state?: string;
            /**
             * @description Whether the agent can take a run. `ready`: yes. `busy`: it has a run. `spent`: it must be restarted first. `unknown`: you cannot tell.
             * @enum {string}
             */
            fit?: "ready" | "busy" | "spent" | "unknown";
        };
        /** @description The run that holds a CVM. */
        HeldRun: {
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /**
             * @description The status of the run. `running` and `stopping`: the run is active. The others are final.
             * @enum {string}
             */
            status: "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: uuid
             * @description The command that starts the run.
             */
            run_command_id: string;
            /** @description When the CVM accepted the run. null if it has not yet. */
            accepted_at: string | null;
            /** @description The command that stops the run. null until a stop is requested. */
            stop_command_id: string | null;
        };
        /** @description A computation that names you, in which you have not acted. */
        Invitation: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description The owner of the computation, a user's `sub`. */
            owner: string;
            /** @description As what the computation names you. */
            expected: ("provider" | "consumer" | "reviewer")[];
        };
        /** @description An event of the journal. */
        JournalHead: {
            /** @description The identifier of the event. */
            id: string;
            /** @description The hash of the event. */
            hash: string;
        };
        /** @description `runtime-data` with `nonce` and `tee-pubkey`, and `tee-evidence`. Other members are ignored. */
        KeyAttestInput: {
            [key: string]: unknown;
        };
        /** @description `version`, the version of the protocol: `0.4.0`. Other members are ignored. */
        KeyAuthInput: {
            [key: string]: unknown;
        };
        /** @description The key broker service that gives the agent the key of an encrypted file. */
        KeyBroker: {
            /** @description The address of the key broker service. */
            url: string;
        };
        /** @description A challenge of the key broker protocol. */
        KeyChallenge: {
            /** @description What the evidence must be made for, base64. It holds for 5 minutes. */
            nonce: string;
            /**
             * @description Always empty.
             * @constant
             */
            "extra-params": "";
        };
        /** @description A key that its owner holds. */
        KeyHeldByParty: {
            /**
             * @description Says that you hold the key, with a broker. The service never has it.
             * @constant
             */
            held: "party";
            /** @description The SHA-256 of the key in hex. */
            fingerprint: string;
            /** @description Which CVMs may get the key, beside the policy of the computation. If omitted, it stays the same. null: the policy of the computation decides alone. */
            release_policy?: components["schemas"]["AttestationPolicyInput"] | null;
            /** @description Ignored. The service sets this field. */
            number?: unknown;
            /** @description Ignored. The service sets this field. */
            releases?: unknown;
            /** @description Ignored. The service sets this field. */
            last_released_at?: unknown;
        };
        /** @description A key that the service holds. */
        KeyHeldByService: {
            /**
             * @description Says that the service holds the key. Its operator can open it.
             * @constant
             */
            held: "service";
            /** @description The key of AES-256-GCM that decrypts the file: 32 bytes in base64. Never returned. */
            key: string;
            /** @description Which CVMs may get the key, beside the policy of the computation. If omitted, it stays the same. null: the policy of the computation decides alone. */
            release_policy?: components["schemas"]["AttestationPolicyInput"] | null;
            /** @description Ignored. The service sets this field. */
            fingerprint?: unknown;
            /** @description Ignored. The service sets this field. */
            number?: unknown;
            /** @description Ignored. The service sets this field. */
            releases?: unknown;
            /** @description Ignored. The service sets this field. */
            last_released_at?: unknown;
        };
        /** @description A public key to upload. */
        KeyInput: {
            /** @description An RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file. */
            key: string;
        };
        /** @description The key of an asset as it was when the run started. */
        KeyOfAsset: {
            /** @description The SHA-256 of the key in hex. */
            fingerprint: string;
            /**
             * @description Who holds the key and can open it. `service`: the service. `party`: the creator of the asset, with a broker.
             * @enum {string}
             */
            held: "service" | "party";
            /** @description Which CVMs may get the key, beside the policy of the computation. null: that of the computation decides. */
            release_policy: components["schemas"]["AttestationPolicy"] | null;
        };
        /** @description Whether your public key is uploaded. */
        KeyState: {
            /** @description Whether you have uploaded a key to the computation. */
            uploaded: boolean;
        };
        /** @description A computation that needs your public key. */
        KeyToUpload: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description The name of the computation. */
            name: string;
        };
        /** @description An attestation token. */
        KeyToken: {
            /** @description A JWT that opens the session. It holds for 5 minutes. */
            token: string;
        };
        /** @description A link that exists. */
        LinkedAsset: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            asset_id: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description Whether the asset is linked to the computation after the request. */
            linked: boolean;
        };
        /** @description An entry of the run in the stage's log, with the proof. */
        LogEntryOfRun: {
            /**
             * @description The event that the entry is of.
             * @enum {string}
             */
            type: "run-start" | "run-end" | "result";
            /**
             * Format: int64
             * @description The place of the entry in the log, from 0.
             */
            index: number;
            /** @description The salt of the entry, base64 of 16 bytes. */
            salt: string;
            /** @description The inclusion proof and the signed checkpoint, as text (C2SP tlog-proof). */
            proof: string;
        };
        /** @description A line of the log of an agent. */
        LogLine: {
            /**
             * Format: date-time
             * @description The time that the agent gave, or that of its arrival.
             * @example 2025-07-17T08:00:00.000Z
             */
            time: string;
            /** @description The level, such as `info`. */
            level: string;
            /** @description The text, without line breaks. */
            message: string;
        };
        /** @description The entries of the run in the stage's append-only log. */
        LogOfEvidence: {
            /** @description The entry of the start of the run, then that of its end. Of a result, the entry of its release or withholding. */
            entries: components["schemas"]["LogEntryOfRun"][];
        };
        /** @description A part of the log of a run. */
        LogPage: {
            /** @description The lines, oldest first. */
            logs: components["schemas"]["LogLine"][];
            /** @description Where the next request goes on, as `after`. */
            next: string;
        };
        /** @description What a run uses, and who may fetch its result: the form that the agent in the CVM reads. */
        Manifest: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description The description. */
            description: string;
            /** @description The datasets, in the order in which they were linked. */
            datasets: components["schemas"]["ManifestDataset"][];
            algorithm: components["schemas"]["ManifestAlgorithm"];
            /** @description The keys of the users to whom the agent gives the result, the owner first. With a review, the reviewers alone. */
            result_consumers: components["schemas"]["ManifestConsumer"][];
        };
        /** @description The algorithm of a run. */
        ManifestAlgorithm: {
            /** @description The SHA3-256 of the file, as 32 integers from 0 to 255. */
            hash: number[];
            /** @description The public key as DER SubjectPublicKeyInfo, base64. */
            user_key: string;
            source?: components["schemas"]["ManifestSource"];
            kbs?: components["schemas"]["ManifestKeyBroker"];
            /**
             * @description How the agent runs the algorithm. The agent takes `bin` by default.
             * @enum {string}
             */
            algo_type?: "bin" | "python" | "wasm" | "docker";
            /** @description The arguments of the algorithm: up to 100, of up to 1000 characters, 4000 together. */
            algo_args?: string[];
        };
        /** @description The key of a user to whom the agent gives the result of a run. */
        ManifestConsumer: {
            /** @description The public key as DER SubjectPublicKeyInfo, base64. */
            user_key: string;
        };
        /** @description A dataset of a run. */
        ManifestDataset: {
            /** @description The SHA3-256 of the file, as 32 integers from 0 to 255. */
            hash: number[];
            /** @description The public key as DER SubjectPublicKeyInfo, base64. */
            user_key: string;
            /** @description The name of the file. */
            filename: string;
            source?: components["schemas"]["ManifestSource"];
            kbs?: components["schemas"]["ManifestKeyBroker"];
            /** @description Whether the agent unpacks the dataset, a ZIP file. */
            decompress?: boolean;
        };
        /** @description The key broker service that gives the agent the key of an encrypted file. */
        ManifestKeyBroker: {
            /** @description The address of the key broker service. */
            url?: string;
            /** @description Tells the agent to fetch the file, encrypted or not. */
            enabled: boolean;
        };
        /** @description Where the agent fetches the file, or the key of an encrypted file that a party sends. */
        ManifestSource: {
            /** @description The address, which everyone in the domain reads: `docker://`, `oci://`, `gs://`, `https://` or `http://`. Omitted: a party sends the file, encrypted, to the agent. */
            url?: string;
            /** @description The path of the key that decrypts the file, in the key broker service `kbs`. Omitted: the file is not encrypted. */
            kbs_resource_path?: string;
            /** @description `true` if the file is encrypted. Absent otherwise. */
            encrypted?: boolean;
        };
        /** @description A computation, an asset or a CVM that was found. */
        Match: {
            /**
             * @description What was found.
             * @enum {string}
             */
            kind: "computation" | "asset" | "cvm";
            /** @description Its identifier. */
            id: string;
            /** @description Its name: the file name of an asset, the identifier of a CVM. */
            name: string;
            /** @description The owner of a computation, or the creator of an asset. null for a CVM. */
            owner: string | null;
            /**
             * @description What the text matches.
             * @enum {string}
             */
            matched: "name" | "id" | "checksum";
        };
        /** @description What was found. */
        Matches: {
            /** @description The matches, the best first. */
            matches: components["schemas"]["Match"][];
            /** @description True if there may be more matches: there were more candidates than were read, or more matches than `limit`. */
            truncated: boolean;
        };
        /** @description Versions of the firmware of an SNP machine. */
        MinimumTcb: {
            /**
             * Format: int32
             * @description The least version of the bootloader, 0 to 255.
             */
            bootloader: number;
            /**
             * Format: int32
             * @description The least version of the TEE, 0 to 255.
             */
            tee: number;
            /**
             * Format: int32
             * @description The least version of the SNP firmware, 0 to 255.
             */
            snp: number;
            /**
             * Format: int32
             * @description The least version of the microcode, 0 to 255.
             */
            microcode: number;
            /** @description Turin: the least version of the FMC, 0 to 255. null: any. */
            fmc: number | null;
        };
        /** @description Versions of the firmware of an SNP machine. */
        MinimumTcbInput: {
            /**
             * Format: int32
             * @description The least version of the bootloader, 0 to 255.
             */
            bootloader: number;
            /**
             * Format: int32
             * @description The least version of the TEE, 0 to 255.
             */
            tee: number;
            /**
             * Format: int32
             * @description The least version of the SNP firmware, 0 to 255.
             */
            snp: number;
            /**
             * Format: int32
             * @description The least version of the microcode, 0 to 255.
             */
            microcode: number;
            /** @description Turin: the least version of the FMC, 0 to 255. null: any. */
            fmc?: number | null;
        };
        /** @description What is missing before a run. If all lists are empty, the computation is ready to run. */
        MissingItems: {
            /** @description The users who must upload their public key. */
            keys: string[];
            /** @description The file names of linked assets without content. */
            hashes: string[];
            /**
             * @description Everything else that is missing, as sentences.
             * @example [
             *       "Missing algorithm"
             *     ]
             */
            info: string[];
        };
        /** @description A user whose approval a run needs. */
        NeededApproval: {
            /** @description The user who must approve. */
            user: string;
            /** @description Why the approval is needed: the file names of the user's assets that need it, and `result consumer` or `reviewer` if the user must approve as one. A file of that name is in quotes. */
            because: string[];
        };
        /** @description How you are told of what begins to wait for you in the domain. */
        Notifications: {
            /** @description Whether you get mail when something begins to wait for you in the domain. */
            email: boolean;
            /** @description Whether the service sends mail. false if its operator has not set it up. */
            is_sent: boolean;
        };
        /** @description Whether you get mail about what begins to wait for you. */
        NotificationsInput: {
            /** @description Whether you get mail when something begins to wait for you in the domain. */
            email: boolean;
            /** @description Ignored. The service sets this field. */
            is_sent?: unknown;
        };
        /** @description This document. */
        OpenApiDocument: {
            /**
             * @description The version of OpenAPI.
             * @constant
             */
            openapi: "3.1.0";
        } & {
            [key: string]: unknown;
        };
        /** @description A user who takes part in a computation, or whom it names. */
        Party: {
            /** @description A user's `sub`. */
            user: string;
            /** @description What the user does: the owner of the computation; a provider, who has linked an asset or is named in `providers`; a result consumer, who may fetch results; a reviewer, who decides on their release. */
            parts: ("owner" | "provider" | "consumer" | "reviewer")[];
            /** @description `true` if the computation only names the user, who has not acted: has no key here, has linked no asset, and has neither approved nor refused. */
            invited: boolean;
        };
        /** @description The values by the number of the PCR, `0` to `23`. */
        PcrBank: {
            /** @description The value of the PCR, 64 hex digits. */
            0?: string;
            /** @description The value of the PCR, 64 hex digits. */
            1?: string;
            /** @description The value of the PCR, 64 hex digits. */
            2?: string;
            /** @description The value of the PCR, 64 hex digits. */
            3?: string;
            /** @description The value of the PCR, 64 hex digits. */
            4?: string;
            /** @description The value of the PCR, 64 hex digits. */
            5?: string;
            /** @description The value of the PCR, 64 hex digits. */
            6?: string;
            /** @description The value of the PCR, 64 hex digits. */
            7?: string;
            /** @description The value of the PCR, 64 hex digits. */
            8?: string;
            /** @description The value of the PCR, 64 hex digits. */
            9?: string;
            /** @description The value of the PCR, 64 hex digits. */
            10?: string;
            /** @description The value of the PCR, 64 hex digits. */
            11?: string;
            /** @description The value of the PCR, 64 hex digits. */
            12?: string;
            /** @description The value of the PCR, 64 hex digits. */
            13?: string;
            /** @description The value of the PCR, 64 hex digits. */
            14?: string;
            /** @description The value of the PCR, 64 hex digits. */
            15?: string;
            /** @description The value of the PCR, 64 hex digits. */
            16?: string;
            /** @description The value of the PCR, 64 hex digits. */
            17?: string;
            /** @description The value of the PCR, 64 hex digits. */
            18?: string;
            /** @description The value of the PCR, 64 hex digits. */
            19?: string;
            /** @description The value of the PCR, 64 hex digits. */
            20?: string;
            /** @description The value of the PCR, 64 hex digits. */
            21?: string;
            /** @description The value of the PCR, 64 hex digits. */
            22?: string;
            /** @description The value of the PCR, 64 hex digits. */
            23?: string;
        };
        /** @description Values of PCRs. */
        Pcrs: {
            sha256: components["schemas"]["PcrBank"];
        };
        /** @description Whether a CVM is connected, and whether its agent can take a run. */
        Presence: {
            /**
             * @description `connected` if the CVM sent something within the last 60 seconds.
             * @enum {string}
             */
            state: "connected" | "disconnected";
            /** @description The time when the CVM was last heard. It may lag by up to 60 seconds. null if the CVM was never heard. */
            last_seen_at: string | null;
            /** @description The state that the agent last reported. null if it reported none. */
            agent_state: string | null;
            /**
             * @description Whether the agent can take a run. `ready`: yes. `busy`: it has a run. `spent`: it must be restarted first. `unknown`: the CVM reported this, or never reported `fit`.
             * @enum {string}
             */
            fit: "ready" | "busy" | "spent" | "unknown";
        };
        /** @description An error (RFC 9457). */
        Problem: {
            /**
             * Format: uri-reference
             * @description The type of the error. `code` distinguishes errors.
             * @example about:blank
             */
            type: string;
            /** @description A short name of the error. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status code.
             */
            status: number;
            /** @description A description of the error. The text may change. */
            detail: string;
            /**
             * @description The error code for programs. It does not change.
             * @enum {string}
             */
            code: "invalid_request" | "unauthenticated" | "forbidden" | "not_found" | "conflict" | "precondition_failed" | "too_large" | "unsupported_media_type" | "incomplete" | "idempotency_mismatch" | "too_many_requests" | "internal" | "unavailable";
            /** @description The identifier of the request. */
            request_id: string;
            /** @description The places in the request that are invalid (400). */
            errors?: components["schemas"]["Violation"][];
            /**
             * @description The kind of conflict (409), or of refusal (403).
             * @enum {string}
             */
            reason?: "run_active" | "cvm_busy" | "cvm_not_ready" | "cvm_not_attested" | "public_key_taken" | "second_algorithm" | "asset_in_use" | "file_name_taken" | "linked_too_widely" | "nothing_to_stop" | "stale_digest" | "unknown_event" | "run_not_completed" | "no_result" | "other_file" | "already_decided" | "result_decided" | "result_open" | "result_of_run" | "log_pending" | "log_contradicted" | "no_checksum" | "no_release_policy" | "request_over" | "no_verified_address" | "logs_not_shared" | "gateway_only";
            /**
             * Format: uuid
             * @description The run that causes the conflict (409).
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            run_id?: string;
            /** @description The current digest of the manifest (409 `stale_digest`). */
            manifest_digest?: string;
            /** @description The current digest of the configuration (409 `stale_digest`). */
            configuration_digest?: string;
            missing_items?: components["schemas"]["MissingItems"];
        };
        /** @description A public key that verifies evidence, as a JSON Web Key (RFC 7517). */
        PublicKey: {
            /**
             * @description The type of the key.
             * @constant
             */
            kty: "EC";
            /**
             * @description The elliptic curve.
             * @constant
             */
            crv: "P-256";
            /** @description The x coordinate, base64url. */
            x: string;
            /** @description The y coordinate, base64url. */
            y: string;
            /**
             * @description What the key is for: signatures.
             * @constant
             */
            use: "sig";
            /**
             * @description The signature algorithm.
             * @constant
             */
            alg: "ES256";
            /** @description The thumbprint of the key (RFC 7638), as in the `key_id` of the evidence. */
            kid: string;
        };
        /** @description The public keys that verify evidence, as a JSON Web Key Set (RFC 7517). */
        PublicKeys: {
            /** @description The current signing key and all former ones. */
            keys: components["schemas"]["PublicKey"][];
        };
        /** @description Documents of Intel about a platform. */
        QuoteCollateral: {
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            root_ca_crl: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            pck_crl: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            tcb_info_issuer_chain: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            tcb_info: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            tcb_info_signature: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            qe_identity_issuer_chain: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            qe_identity: string;
            /** @description As Intel publishes it: PEM, hex, or the text that is signed. */
            qe_identity_signature: string;
        };
        /** @description The refusal of a user to approve. */
        Refusal: {
            /** @description The user who refused. */
            user: string;
            /** @description Why, in the words of the user. */
            reason: string;
            /**
             * Format: date-time
             * @description The time of the refusal.
             * @example 2025-07-17T08:00:00.000Z
             */
            refused_at: string;
        };
        /** @description A refusal to approve. */
        RefusalInput: {
            /**
             * @description Says that you refuse.
             * @constant
             */
            decision: "refuse";
            /**
             * @description Why you refuse, in your words. 1 to 1,000 characters, at least one of them visible.
             * @example The data may not leave the hospital before the ethics board has met.
             */
            reason: string;
        };
        /** @description A refusal to approve a computation of yours. */
        RefusalToRead: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description The name of the computation. */
            name: string;
            /** @description The user who refused. */
            user: string;
            /** @description Why, in the words of the user. */
            reason: string;
            /**
             * Format: date-time
             * @description The time of the refusal.
             * @example 2025-07-17T08:00:00.000Z
             */
            refused_at: string;
        };
        /** @description An answer without the key. */
        RefusedKey: {
            /** @description Why the broker refuses, as a sentence. */
            refusal: string;
        };
        /** @description The CVM rejects a command. */
        RejectedReport: {
            /**
             * @description The kind of the report.
             * @constant
             */
            type: "rejected";
            /** @description An identifier that you choose. A second report with it on the same run is counted as a duplicate and ignored. */
            id: string;
            /** @description The run that the report is about. */
            run_id: string;
            /** @description The command that this report answers. */
            command_id: string;
            /**
             * @description The reason. Up to 1,000 characters.
             * @default
             */
            reason?: string;
        };
        /** @description An answer with the key. */
        ReleasedKey: {
            /**
             * @description Omit it to answer with the key.
             * @enum {string|null}
             */
            refusal?: null;
            jwe: components["schemas"]["SealedKey"];
        };
        /** @description A report of a CVM. Its `type` says which kind it is. */
        Report: components["schemas"]["AcceptedReport"] | components["schemas"]["RejectedReport"] | components["schemas"]["EventReport"] | components["schemas"]["HeartbeatReport"];
        /** @description Reports of a CVM. */
        ReportBatch: {
            /** @description The reports, 1 to 50. */
            reports: components["schemas"]["Report"][];
        };
        /** @description What became of a report. */
        ReportResult: {
            /** @description The identifier of the report. null if it has none. */
            id: string | null;
            /**
             * @description `unknown_run`: this CVM has no such run. `invalid`: the report does not match the schema, or answers a command that its active run does not have. Only `recorded` reports have an effect.
             * @enum {string}
             */
            outcome: "recorded" | "duplicate" | "unknown_run" | "invalid";
            /** @description The status of the run after the report. A report that ends the run changes it with a short delay. If it is `failed` or `cancelled`, stop working on the run. null if there is no run. */
            run_status: ("running" | "stopping" | "completed" | "failed" | "cancelled") | null;
            /** @description The JSON Pointer of the error, and what was expected there. Present only if `outcome` is `invalid`. */
            detail?: string;
        };
        /** @description What became of the reports of a batch. */
        ReportSummary: {
            /**
             * Format: int32
             * @description The number of reports with the outcome `recorded`.
             */
            accepted: number;
            /**
             * Format: int32
             * @description The number of reports with the outcome `duplicate`.
             */
            duplicates: number;
            /** @description The result of each report, in the order of the reports. */
            results: components["schemas"]["ReportResult"][];
        };
        /** @description The decision of a reviewer on a result. */
        ResultDecision: {
            /** @description The user who decided. */
            reviewer: string;
            /**
             * @description What the reviewer decided.
             * @enum {string}
             */
            decision: "release" | "withhold";
            /** @description What the reviewer says about the decision. */
            note: string;
            /**
             * Format: date-time
             * @description The time of the decision.
             * @example 2025-07-17T08:00:00.000Z
             */
            decided_at: string;
        };
        /** @description A decision on the result of a run. */
        ResultDecisionInput: {
            /**
             * @description Whether the consumers may get the result. Final.
             * @enum {string}
             */
            decision: "release" | "withhold";
            /** @description The SHA3-256 of the file on which you decide, hex. */
            checksum: string;
            /**
             * @description What the reviewer says about the decision. Up to 1,000 characters. Everyone in the domain reads it.
             * @default
             * @example acro: no cell with fewer than ten people.
             */
            note?: string;
            /** @description A signature in base64, by the private key of your public key in the manifest of the run. Sign the canonical JSON (RFC 8785), in UTF-8, of `{type: "result-decision", domain, computation, run, reviewer, manifest_digest, checksum, decision, note}`, with the `checksum` in lower case. `reviewer` is your `sub`, an omitted `note` is an empty text. Algorithms as for approvals. Required if the `approval` of the computation was `all_signed` when the run started. */
            signature?: string | null;
        };
        /** @description A statement about the result of a run, with the signature of the service. */
        ResultEvidence: {
            statement: components["schemas"]["ResultStatement"];
            /** @description ES256 over the canonical JSON (RFC 8785) of `statement`: r and s, base64url. */
            signature: string;
            /** @description The `kid` of the key in `/.well-known/jwks.json`. */
            key_id: string;
            log: components["schemas"]["LogOfEvidence"];
        };
        /** @description The file with the result that a reviewer hands in. */
        ResultInput: {
            /**
             * @description The name of the file, without a path. At most 255 bytes in UTF-8, at least one visible character. The datasets of a computation have different names.
             * @example titanic.csv
             */
            file_name: string;
            /**
             * Format: int64
             * @description The size of the file in bytes: up to 5 GiB.
             */
            size: number;
            /** @description The SHA3-256 of the file with the result, hex. */
            checksum: string;
        };
        /** @description The result of a run under review. */
        ResultOfRun: {
            /**
             * @description `awaiting_file`: no reviewer has handed in the result, or its file has not arrived. `under_review`: the file is here. `released`: the consumers may get it. `withheld`: they never get it.
             * @enum {string}
             */
            state: "awaiting_file" | "under_review" | "released" | "withheld";
            /** @description The asset with the file. null until a reviewer hands it in. */
            asset: string | null;
            /** @description The SHA3-256 of the file, hex. null until a reviewer hands it in. */
            checksum: string | null;
            /** @description The size of the file in bytes. null until a reviewer hands it in. */
            size: number | null;
            /** @description The decisions, in the order in which they were made. A decision is final. */
            decisions: components["schemas"]["ResultDecision"][];
        };
        /** @description Who reviews results before their release. */
        ResultReview: {
            /** @description The users who fetch results from the CVM and decide on their release. */
            reviewers: string[];
            /** @description How many reviewers must release a result before its consumers get it. */
            needed: number;
        };
        /** @description Who reviews results before their release. */
        ResultReviewInput: {
            /** @description The users (`sub`) who fetch results from the CVM and decide on their release: 1 to 10. */
            reviewers: string[];
            /**
             * Format: int32
             * @description How many reviewers must release a result before its consumers get it. At most the number of reviewers.
             */
            needed: number;
        };
        /** @description What the service states about the result of a run, once it is released or withheld. */
        ResultStatement: {
            /**
             * @description The form of the statement.
             * @constant
             */
            type: "computation-result:v1";
            /**
             * @description The identifier of the domain.
             * @example d1
             */
            domain: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation: string;
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            run: string;
            /** @description The digest of the manifest that the run was started with. */
            manifest_digest: string;
            /** @description The digest of the configuration that the run was started with. */
            configuration_digest: string;
            result_review: components["schemas"]["CoveredReview"];
            /**
             * @description What became of the result.
             * @enum {string}
             */
            state: "released" | "withheld";
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            asset: string;
            /** @description The SHA3-256 of the file with the result, hex. */
            checksum: string;
            /**
             * Format: int64
             * @description The size of the file in bytes.
             */
            size: number;
            /** @description The decisions until the result was released or withheld, in their order. */
            decisions: components["schemas"]["StatedDecision"][];
            event: components["schemas"]["Event"];
            log: components["schemas"]["StatedLog"];
            /** @description The version of the service that made the statement. */
            service_version: string;
            /**
             * Format: date-time
             * @description The time at which the statement was made.
             * @example 2025-07-17T08:00:00.000Z
             */
            issued_at: string;
        };
        /** @description A result that waits for your review. */
        ReviewToGive: {
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description The name of the computation. */
            name: string;
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            run_id: string;
        };
        /** @description A run of a computation on a CVM. */
        Run: {
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /**
             * @description The CVM of the run.
             * @example sim-1
             */
            cvm_id: string;
            /**
             * @description The status of the run. `running` and `stopping`: the run is active. The others are final.
             * @enum {string}
             */
            status: "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: date-time
             * @description The start of the run.
             * @example 2025-07-17T08:00:00.000Z
             */
            started_at: string;
            /** @description The end of the run. null while the run is active. */
            ended_at: string | null;
            /** @description The user who started the run. */
            started_by: string;
            /** @description The reason for the end of the run. null while the run is active. */
            reason: string | null;
            /** @description The kind of the end, for programs. `input_changed`: a fetched file is another than the approved one. Else null. */
            reason_code: "input_changed" | null;
            /** @description The result under review. null without a review. */
            result: components["schemas"]["ResultOfRun"] | null;
            /** @description The digest of the manifest that the run was started with. */
            manifest_digest: string;
            /** @description The digest of the configuration that the run was started with. */
            configuration_digest: string;
        };
        /** @description A signed statement about the run that asks for a key. */
        RunAuthorization: {
            statement: components["schemas"]["RunAuthorizationStatement"];
            /** @description The signature by ES256 of its canonical JSON, base64url. */
            signature: string;
            /** @description The thumbprint of the key that signed (RFC 7638). */
            key_id: string;
        };
        /** @description What the service states about the run: `run-authorization:v1`. */
        RunAuthorizationStatement: {
            [key: string]: unknown;
        };
        /**
         * Format: uuid
         * @description The identifier of the run, as a JSON string.
         * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
         */
        RunId: string;
        /** @description The run, as the API shows it, without `result`. */
        RunOfStatement: {
            /**
             * Format: uuid
             * @description The identifier of the run.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            id: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /**
             * @description The CVM of the run.
             * @example sim-1
             */
            cvm_id: string;
            /**
             * @description The status of the run. `running` and `stopping`: the run is active. The others are final.
             * @enum {string}
             */
            status: "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: date-time
             * @description The start of the run.
             * @example 2025-07-17T08:00:00.000Z
             */
            started_at: string;
            /** @description The end of the run. null while the run is active. */
            ended_at: string | null;
            /** @description The user who started the run. */
            started_by: string;
            /** @description The reason for the end of the run. null while the run is active. */
            reason: string | null;
            /** @description The kind of the end, for programs. `input_changed`: a fetched file is another than the approved one. Else null. */
            reason_code: "input_changed" | null;
            /** @description The digest of the manifest that the run was started with. */
            manifest_digest: string;
            /** @description The digest of the configuration that the run was started with. */
            configuration_digest: string;
        };
        /** @description A page of the list of runs. */
        RunPage: {
            /** @description The runs, newest first. */
            runs: components["schemas"]["Run"][];
            /**
             * Format: int32
             * @description The `limit` of the request, or its default.
             */
            limit: number;
            /**
             * Format: int64
             * @description The `offset` of the request, or 0.
             */
            offset: number;
            /**
             * Format: int64
             * @description The exact number of entries that match the filter.
             */
            total: number;
        };
        /** @description A key, encrypted for the TEE that asks: a flattened JWE with A256GCM. */
        SealedKey: {
            /** @description The header. */
            protected: string;
            /** @description The encrypted content key. */
            encrypted_key: string;
            /** @description The nonce. */
            iv: string;
            /** @description The encrypted key of the asset. */
            ciphertext: string;
            /** @description The tag. */
            tag: string;
        };
        /** @description The versions of the firmware of an SNP machine. */
        SnpTcb: {
            /**
             * Format: int32
             * @description The version of the FMC, which Turin alone has.
             */
            fmc?: number;
            /**
             * Format: int32
             * @description The version of the bootloader.
             */
            bootloader: number;
            /**
             * Format: int32
             * @description The version of the TEE.
             */
            tee: number;
            /**
             * Format: int32
             * @description The version of the SNP firmware.
             */
            snp: number;
            /**
             * Format: int32
             * @description The version of the microcode.
             */
            microcode: number;
        };
        /** @description The decision of a reviewer on a result, as evidence states it. */
        StatedDecision: {
            /** @description The user who decided. */
            reviewer: string;
            /**
             * @description What the reviewer decided.
             * @enum {string}
             */
            decision: "release" | "withhold";
            /** @description What the reviewer says about the decision. */
            note: string;
            /**
             * Format: date-time
             * @description The time of the decision.
             * @example 2025-07-17T08:00:00.000Z
             */
            decided_at: string;
            /** @description The SHA3-256 of the file on which the reviewer decided, hex. */
            checksum: string;
            /** @description The signature of the reviewer in base64. null if the reviewer did not sign. */
            signature: string | null;
            /** @description The public key that verifies the signature, as DER SubjectPublicKeyInfo, base64. null without a signature. */
            key: string | null;
        };
        /** @description The stage's append-only log, which has an entry for the start and the end of the run, and for a reviewed result. */
        StatedLog: {
            /** @description The name of the log. */
            origin: string;
            /** @description The key that verifies the checkpoints of the log (C2SP signed-note). */
            vkey: string;
        };
        /** @description How often computations entered each status on each day. */
        Statistics: {
            /** @description The counts, by day and status. Counts of zero are omitted. */
            comp_stats: components["schemas"]["StatisticsEntry"][];
        };
        /** @description How many computations entered a status on a day. */
        StatisticsEntry: {
            /**
             * Format: date
             * @description A UTC day.
             * @example 2025-07-17
             */
            day: string;
            /**
             * @description The status that computations entered.
             * @enum {string}
             */
            status: "created" | "running" | "stopping" | "completed" | "failed" | "cancelled";
            /**
             * Format: int64
             * @description The number of times that a computation entered the status.
             */
            count: number;
        };
        /** @description The versions of a TDX machine. */
        TdxTcb: {
            /** @description What Intel says of the versions, such as `UpToDate`. */
            status: string;
            /** @description The versions of the TDX module and its parts, in hex. */
            tee_tcb_svn: string;
            /** @description Intel's security advisories about these versions. */
            advisories: string[];
        };
        /** @description Your open tasks. First those in computations that you created and own, uploaded a key to or linked an asset to; newest first within each. */
        Todo: {
            /** @description Computations with a manifest that need your approval and do not have it. */
            approvals: components["schemas"]["ApprovalToGive"][];
            /** @description Computations that need your public key and do not have it. */
            keys: components["schemas"]["KeyToUpload"][];
            /** @description Your assets whose content has not arrived. */
            content: components["schemas"]["ContentToUpload"][];
            /** @description Completed runs whose result waits for your decision, or for its file. Newest first. */
            reviews: components["schemas"]["ReviewToGive"][];
            /** @description Refusals of users whose approval your computations need. */
            refusals: components["schemas"]["RefusalToRead"][];
            /** @description Computations that name you, in which you have no key, have linked no asset, and have neither approved nor refused. The newest 20 of each owner, newest first. */
            invitations: components["schemas"]["Invitation"][];
            totals: components["schemas"]["TodoTotals"];
            /**
             * Format: date-time
             * @description The time as of which the lists are right. They may contain later changes.
             * @example 2025-07-17T08:00:00.000Z
             */
            as_of: string;
        };
        /** @description How long the lists would be without limits. Exact. */
        TodoTotals: {
            /**
             * Format: int64
             * @description How many approvals, also beyond the list.
             */
            approvals: number;
            /**
             * Format: int64
             * @description How many keys, also beyond the list.
             */
            keys: number;
            /**
             * Format: int64
             * @description How many assets, also beyond the list.
             */
            content: number;
            /**
             * Format: int64
             * @description How many reviews, also beyond the list.
             */
            reviews: number;
            /**
             * Format: int64
             * @description How many refusals, also beyond the list.
             */
            refusals: number;
            /**
             * Format: int64
             * @description How many invitations, also beyond the list.
             */
            invitations: number;
        };
        /** @description A token of the agent process. */
        TokenOfStatement: {
            /** @description The kind of the token, as its reporter named it. */
            kind: string;
            /** @description The SHA-256 of the token, hex. */
            hash: string;
            /**
             * @description What the service found. `not judged`: it did not verify the token.
             * @enum {string}
             */
            verdict: "verified" | "refused" | "unsupported" | "not judged";
            /** @description The time as of which the service verified it. Empty if it did not. */
            verified_at: string;
            /** @description TDX: the documents of Intel that the service verified it with. Empty for other platforms. */
            collateral: components["schemas"]["QuoteCollateral"][];
        };
        /** @description A link that no longer exists. */
        UnlinkedAsset: {
            /**
             * Format: uuid
             * @description The identifier of the asset.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            asset_id: string;
            /**
             * Format: uuid
             * @description The identifier of the computation.
             * @example 00000000-0001-8c3a-9f0e-2b7d41c5e6a8
             */
            computation_id: string;
            /** @description Whether the asset is linked to the computation after the request. */
            linked: boolean;
        };
        /** @description The form that programs for mail send. */
        UnsubscribeInput: {
            /**
             * @description Always `One-Click`.
             * @constant
             */
            "List-Unsubscribe": "One-Click";
        };
        /** @description The confirmation of an uploaded key. */
        UploadedKey: {
            /** @description `true`: the key is uploaded. */
            uploaded: boolean;
        };
        /** @description An invalid place in a request. */
        Violation: {
            /** @description A JSON Pointer into the body, or a place such as `query/limit`, `path/domainID` or `header/if-match`. */
            pointer: string;
            /** @description What was expected at this place. */
            detail: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The identifier of the request. */
        RequestId: string;
        /** @description The origin of the web page that sent the request, if the stage allows it. */
        AllowedOrigin: string;
    };
    pathItems: never;
}
export interface operations {
    listComputations: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of entries to skip. Default 0. */
                offset?: number;
                /** @description Return only computations with this status. */
                status?: "created" | "running" | "stopping" | "completed" | "failed" | "cancelled";
                /** @description Return only computations of this owner, a user's `sub`. */
                owner?: string;
                /** @description Return only computations that wait for this user, a `sub` or `me`, as in the open tasks. A change counts within 5 seconds. Cannot be combined with `owner`. */
                waiting_for?: string;
                /** @description Sort by `updated_at`, the latest first. A change counts within 5 seconds. Can be combined with no filter but `waiting_for`. Default: newest first. */
                sort?: "updated";
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComputationPage"];
                };
            };
        };
    };
    createComputation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComputationInput"];
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Computation"];
                };
            };
        };
    };
    getComputation: {
        parameters: {
            query?: {
                /** @description If `true`, returns only the fields that a list entry has: no configuration, assets or run. Default `false`. */
                peek?: "true" | "false";
            };
            header?: {
                /** @description ETags that you received for this resource, or `*`. The response is 304 without a body if one of them is still current. A response with a presigned request is never 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComputationView"];
                };
            };
        };
    };
    updateComputation: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since. */
                "If-Match"?: string;
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComputationReplacement"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Computation"];
                };
            };
        };
    };
    deleteComputation: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since. */
                "If-Match"?: string;
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. The response has no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getRun: {
        parameters: {
            query?: {
                /** @description The identifier of a run of this computation. Default: the latest run. */
                run?: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    startRun: {
        parameters: {
            query: {
                /** @description The CVM to run on. */
                cvm: string;
            };
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunId"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of entries to skip. Default 0. */
                offset?: number;
                /** @description Return only runs with this status. */
                status?: "running" | "stopping" | "completed" | "failed" | "cancelled";
                /** @description Return only runs of this computation. */
                computation_id?: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
        };
    };
    getStatistics: {
        parameters: {
            query?: {
                /** @description The number of UTC days to return, including today, from 1 to 366. Default 7. */
                days?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statistics"];
                };
            };
        };
    };
    checkKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyState"];
                };
            };
        };
    };
    uploadKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedKey"];
                };
            };
        };
    };
    removeKey: {
        parameters: {
            query?: {
                /** @description Whose key, a user's `sub`. Default: the caller. Another user's: the owner or an administrator. */
                user?: string;
            };
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. The response has no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    dryRun: {
        parameters: {
            query?: {
                /** @description Also check this CVM: whether the approvals allow it, and what a start on it would refuse. */
                cvm?: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DryRun"];
                };
            };
        };
    };
    stopRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    getManifest: {
        parameters: {
            query?: {
                /** @description Return the manifest that this run was started with. Default: the manifest that a run would get now. */
                run?: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Manifest"];
                };
            };
        };
    };
    listAssets: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of entries to skip. Default 0. */
                offset?: number;
                /** @description Return only assets of this type. Results of runs are listed with this filter alone. */
                asset_type?: "algorithm" | "dataset" | "result";
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetPage"];
                };
            };
        };
    };
    createAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetInput"];
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
        };
    };
    getAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The response is 304 without a body if one of them is still current. A response with a presigned request is never 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
        };
    };
    updateAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since. */
                "If-Match"?: string;
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetReplacement"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
        };
    };
    deleteAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since. */
                "If-Match"?: string;
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. The response has no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    unlinkAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
                /** @description The identifier of the computation. */
                computationID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnlinkedAsset"];
                };
            };
        };
    };
    linkAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
                /** @description The identifier of the computation. */
                computationID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinkedAsset"];
                };
            };
        };
    };
    listLinkedComputations: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of entries to skip. Default 0. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComputationPage"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of entries to skip. Default 0. */
                offset?: number;
                /** @description Return only events recorded after the event with this identifier, oldest first. Empty: begin at the first event. Cannot be combined with `offset`. */
                after?: string;
                /** @description The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty. */
                wait?: number;
                /** @description Return only events recorded at or after this time: RFC 3339 or Unix seconds. */
                from?: string;
                /** @description Return only events recorded at or before this time: RFC 3339 or Unix seconds. */
                to?: string;
                /** @description Return only events with this status. */
                status?: string;
                /** @description Return only events of this type. */
                event_type?: string;
                /** @description Return only events of this run. Empty: only events of no run. */
                run_id?: string;
                /** @description Return only events of this CVM. Empty: only events of no CVM. */
                cvm_id?: string;
                /** @description Return only events from this originator. */
                originator?: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    listCommands: {
        parameters: {
            query?: {
                /** @description The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty. */
                wait?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the CVM. */
                cvmID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandList"];
                };
            };
        };
    };
    report: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the CVM. */
                cvmID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportBatch"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportSummary"];
                };
            };
        };
    };
    getAttestation: {
        parameters: {
            query?: {
                /** @description The identifier of a run of this computation. Default: the latest run. */
                run?: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttestationOfRun"];
                };
            };
        };
    };
    getEvidence: {
        parameters: {
            query: {
                /** @description The identifier of a run of this computation. */
                run: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Evidence"];
                };
            };
        };
    };
    getResult: {
        parameters: {
            query: {
                /** @description The identifier of a run of this computation. */
                run: string;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultEvidence"];
                };
            };
        };
    };
    handInResult: {
        parameters: {
            query: {
                /** @description The identifier of a run of this computation. */
                run: string;
            };
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResultInput"];
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
        };
    };
    decideResult: {
        parameters: {
            query: {
                /** @description The identifier of a run of this computation. */
                run: string;
            };
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResultDecisionInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    listApprovals: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approvals"];
                };
            };
        };
    };
    approve: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionInput"];
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Decision"];
                };
            };
        };
    };
    withdrawApproval: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. The response has no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getTodo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Todo"];
                };
            };
        };
    };
    getNotifications: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notifications"];
                };
            };
        };
    };
    setNotifications: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NotificationsInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notifications"];
                };
            };
        };
    };
    find: {
        parameters: {
            query: {
                /** @description The text to find. */
                q: string;
                /** @description Return only matches of this kind. */
                kind?: "computation" | "asset" | "cvm";
                /** @description True to return only what the text names in full: by name, identifier or checksum. Default false. */
                exact?: "true" | "false";
                /** @description Return only computations that this user owns and assets that it created, a user's `sub`. */
                owner?: string;
                /** @description The maximum number of matches to return, from 1 to 50. Default 20. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Matches"];
                };
            };
        };
    };
    readLogs: {
        parameters: {
            query?: {
                /** @description The identifier of a run of this computation. Default: the latest run. */
                run?: string;
                /** @description The least level. Default `debug`. */
                level?: "debug" | "info" | "warn" | "error";
                /** @description The `next` of an earlier response. Empty: begin at the first line. */
                after?: string;
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty. */
                wait?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the computation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
        };
    };
    listReleases: {
        parameters: {
            query?: {
                /** @description A nonce of yours for the authorizations: 32 bytes, base64url. Default: one that the service makes. */
                nonce?: string;
                /** @description The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty. */
                wait?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskedKeys"];
                };
            };
        };
    };
    answerRelease: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the request for a key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BrokersAnswer"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnsweredKey"];
                };
            };
        };
    };
    auth: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyAuthInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyChallenge"];
                };
            };
        };
    };
    attest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyAttestInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyToken"];
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The place of the key: `{asset}/key/1`. */
                resource: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealedKey"];
                };
            };
        };
    };
    listCvms: {
        parameters: {
            query?: {
                /** @description The maximum number of entries to return, from 1 to 100. Default 10. */
                limit?: number;
                /** @description The number of entries to skip. Default 0. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CvmPage"];
                };
            };
        };
    };
    getCvm: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The response is 304 without a body if one of them is still current. A response with a presigned request is never 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the CVM. */
                cvmID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cvm"];
                };
            };
        };
    };
    registerCvm: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since. */
                "If-Match"?: string;
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the CVM. */
                cvmID: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CvmRegistration"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cvm"];
                };
            };
            /** @description Success. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cvm"];
                };
            };
        };
    };
    deleteCvm: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that you received for this resource, or `*`. The request is refused with 412 if this resource has changed since. */
                "If-Match"?: string;
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the CVM. */
                cvmID: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. The response has no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getAssetKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetKey"];
                };
            };
        };
    };
    setAssetKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetKeyInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssetKey"];
                };
            };
        };
    };
    removeAssetKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The identifier of the domain. */
                domainID: string;
                /** @description The identifier of the asset. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. The response has no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    showUnsubscribe: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The secret in the link of a mail. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    unsubscribe: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The secret in the link of a mail. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["UnsubscribeInput"];
                "multipart/form-data": components["schemas"]["UnsubscribeInput"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenApiDocument"];
                };
            };
        };
    };
    jwks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicKeys"];
                };
            };
        };
    };
    getCheckpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    getTile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The path of the tile or bundle below `tile/`, with its slashes. */
                tile: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
}

export type Schemas = components['schemas'];
