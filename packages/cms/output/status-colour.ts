import { styleText } from 'node:util';

const colours: Record<string, Parameters<typeof styleText>[0]> = {
  completed: 'green',
  ready: 'green',
  connected: 'green',
  running: 'blue',
  stopping: 'yellow',
  cancelled: 'yellow',
  pending: 'yellow',
  failed: 'red',
  disconnected: 'red',
  spent: 'red',
};

/** Colours a status: green for good, red for bad, yellow for what waits. */
export function statusColour(text: string): string {
  const colour = colours[text];
  return colour === undefined ? text : styleText(colour, text, { validateStream: false });
}
