import type { PendingCommand } from '../../shared/runs/pending-commands.ts';

/** The commands for one CVM that the service still names as pending, and when to obey which one again. */
export class OpenCommands {
  private commands: PendingCommand[] = [];
  /** A command that is answered is not obeyed again. */
  private readonly retryAt = new Map<string, number>();

  /** @returns false if there were no commands before and are none now */
  set(commands: PendingCommand[]): boolean {
    if (commands.length === 0 && this.commands.length === 0) return false;
    this.commands = commands;
    const ids = new Set(commands.map(({ id }) => id));
    for (const id of this.retryAt.keys()) if (!ids.has(id)) this.retryAt.delete(id);
    return true;
  }

  /** The commands to obey now. */
  due(now: number): PendingCommand[] {
    return this.commands.filter(({ id }) => (this.retryAt.get(id) ?? 0) <= now);
  }

  answered({ id }: PendingCommand): void {
    this.retryAt.set(id, Infinity);
  }

  retry({ id }: PendingCommand, at: number): void {
    this.retryAt.set(id, at);
  }
}
