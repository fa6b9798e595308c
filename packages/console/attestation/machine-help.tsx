/** Shows a link to the help about the choice of machines. */
export function MachineHelp() {
  return (
    <a href="/help/machines.html" target="_blank" rel="noreferrer">
      Decide on which machines
    </a>
  );
}
