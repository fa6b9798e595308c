import { stateMachineDefinition } from '../../shared/runs/state-machine.ts';

interface State {
  Type: string;
  Default?: string;
  Choices?: { StringEquals: string; Next: string }[];
  Next?: string;
}

const anyTimes = { acceptInSeconds: 1, silenceInSeconds: 1, runInSeconds: 1, stopInSeconds: 1 };

/**
 * Transitions that an execution is billed for where nothing goes wrong: its states, and as AWS counts them in its own example,
 * the start and the end. A wait of any length is one state.
 */
export function transitionsOf(action: 'run' | 'stop'): number {
  const { StartAt, States } = stateMachineDefinition((step) => step, anyTimes);
  const states = new Map<string, State>(Object.entries(States));
  let entered = 0;
  for (let name: string | undefined = StartAt; name !== undefined; entered++) {
    const state = states.get(name);
    name = state?.Choices?.find(({ StringEquals }) => StringEquals === action)?.Next ?? state?.Default ?? state?.Next;
  }
  return entered + 2;
}
