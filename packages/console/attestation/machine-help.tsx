import Link from '@cloudscape-design/components/link';

/** Shows a link to the help about the choice of machines. */
export function MachineHelp() {
  return (
    <Link href="/help/machines.html" target="_blank">
      Decide on which machines
    </Link>
  );
}
