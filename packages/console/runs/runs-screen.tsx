import { ScreenFrame } from '../shell/screen-frame.tsx';
import { RunsTable } from './runs-table.tsx';

/** The runs of the domain. */
export function RunsScreen() {
  return (
    <ScreenFrame title="Runs" above={[]} hasHeader={false}>
      <RunsTable />
    </ScreenFrame>
  );
}
