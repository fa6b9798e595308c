import { connect, createServer, type NetConnectOpts, type Server } from 'node:net';

/** A port of the loopback interface, or the path of a Unix socket. */
export type Place = number | string;

function optionsOf(place: Place): NetConnectOpts & { path: string } {
  const options = typeof place === 'number' ? { host: '127.0.0.1', port: place } : { path: place };
  return options as NetConnectOpts & { path: string };
}

/**
 * Passes connections on from one place to another. The network namespace of a CVM has no way out but Unix sockets, which belong
 * to the file system.
 */
export async function relay(from: Place, to: Place): Promise<{ server: Server; cut: () => void; stop: () => Promise<void> }> {
  const sockets = new Set<{ destroy: () => void }>();
  const server = createServer((near) => {
    const far = connect(optionsOf(to));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(optionsOf(from), resolve);
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    server,
    cut,
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs within a CVM as `node relay.ts FROM TO [FROM TO]...`: relays connections from one port or path to another. */
if (import.meta.main) {
  const places = process.argv.slice(2).map((text) => (/^\d+$/.test(text) ? Number(text) : text));
  for (let index = 0; index + 1 < places.length; index += 2) await relay(places[index] ?? 0, places[index + 1] ?? 0);
  process.stdout.write('ready\n');
}
