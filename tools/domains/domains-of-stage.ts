import { accessTokensLiveInSeconds, recoverableInDays, undeliveredStaysInDays, type Stage } from '../../infra/stages/stage.ts';
import { stageNamed } from '../../infra/stages/stages.ts';
import { closedAt } from '../../shared/rows/closed-domain.ts';
import {
  changeRoles,
  createDomain,
  inviteUser,
  type ManagedUser,
  type RolesOfUser,
  type UserDirectory,
} from '../../shared/domains/manage-users.ts';
import { contentsOf, type DomainContents, type Removed, removeDomain } from '../../shared/domains/remove-domain.ts';
import { endMail } from '../../shared/notifications/index.ts';
import { openStageData, resourcesOf } from './stage-data.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';
import { type Clock, systemClock } from '../../shared/runtime/deadline.ts';

/** A user of a domain after a command of `npm run domain`, with the memberships. */
export interface DomainUser extends ManagedUser {
  /** A token with the user's memberships. Undefined if the user signs in to get one. */
  token?: string;
  /** A sentence on what was done instead, where the issuer has the memberships. */
  note?: string;
}

/** A manager of the domains of a service: of the service on this machine, or of a deployed stage. */
export interface DomainManager {
  create: (given: Omit<RolesOfUser, 'roles'>) => Promise<DomainUser>;
  invite: (given: RolesOfUser) => Promise<DomainUser>;
  changeRoles: (given: RolesOfUser) => Promise<DomainUser>;
  look: (domain: string) => Promise<DomainContents>;
  remove: (domain: string, options: { stop: boolean; wait: boolean }) => Promise<Removed>;
  /** Sentences for the operator about the data that the removal of a domain leaves behind. */
  leaves: readonly string[];
}

export interface DomainsOfStageOptions {
  /** The seconds for which a token of a user is valid. Default: the lifetime of tokens of the stage's own user pool. */
  tokensLiveInSeconds?: number | undefined;
  say: (line: string) => void;
  /** The clock of removals. Default: the system clock. */
  clock?: Clock;
}

/**
 * Returns the manager of the domains of a stage on AWS, with the credentials of the environment.
 * @throws UsageError if there is no such stage. Its `remove` throws UsageError if the lifetime of the issuer's tokens is missing
 */
export async function domainsOfStage(
  name: string,
  { tokensLiveInSeconds, say, clock = systemClock }: DomainsOfStageOptions,
): Promise<DomainManager> {
  const stage = stageNamed(name);
  const data = openStageData(stage, await resourcesOf(stage), {
    tokensLiveInSeconds: tokensLiveInSeconds ?? accessTokensLiveInSeconds,
    clock,
  });
  const users = (): UserDirectory => {
    if (data.users) return data.users;
    throw new UsageError(`The stage ${name} has an issuer of its own. Make users there, with memberships <domain>:<role>.`);
  };
  return {
    create: async (given) => {
      const closed = await closedAt(data.table, given.domain, clock.now());
      if (closed !== undefined) throw new Error(`The domain ${given.domain} is being removed. Complete that first.`);
      return await createDomain(users(), given);
    },
    invite: (given) => inviteUser(users(), given),
    changeRoles: async (given) => {
      const forget = (domain: string, userId: string) => endMail(data.table, domain, userId);
      if (data.users || given.roles.length > 0) return await changeRoles(users(), given, forget);
      await forget(given.domain, given.user);
      const note = `No address for mail of the user ${given.user} is kept. Take the memberships of ${given.domain} away at the issuer.`;
      return { memberships: [], note };
    },
    look: (domain) => contentsOf(data, domain),
    remove: async (domain, options) => {
      if ((stage.issuer ?? stage.existing?.userPool) && tokensLiveInSeconds === undefined) {
        const advice = data.users ? '' : ' First remove the memberships of the domain from all users at the issuer.';
        throw new UsageError(`Missing option --tokens-live: how long the tokens of the stage's issuer are valid.${advice}`);
      }
      return await removeDomain(data, { domain, ...options, say });
    },
    leaves: leftIn(stage),
  };
}

/** Returns sentences about data that cannot be removed for one domain alone. docs/domains.md has the same sentences. */
function leftIn({ logRetention, pointInTimeRecovery, issuer }: Stage): string[] {
  const recovery = `The table's point-in-time recovery, for ${recoverableInDays} days: a restored table has the domain again.`;
  return [
    `Logs in CloudWatch and the bucket's access logs, which all domains share, for ${logRetention} days.`,
    `Deleted content as noncurrent versions, for ${recoverableInDays} days.`,
    ...(pointInTimeRecovery ? [recovery] : []),
    'The history of ended executions in Step Functions, for 90 days: identifiers of runs, and no content.',
    `Messages in the queue of undelivered events, for up to ${undeliveredStaysInDays} days.`,
    ...(issuer ? ["The users and their memberships at the stage's issuer."] : []),
  ];
}
