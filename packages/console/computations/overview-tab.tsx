import { ApprovalsPanel } from '../approvals/approvals-panel.tsx';
import { InputsPanel } from './inputs-panel.tsx';
import type { Overview } from './load-overview.ts';
import { PartiesPanel } from './parties-panel.tsx';
import { SummaryPanel } from './summary-panel.tsx';

interface Props {
  overview: Overview;
  reload: () => void;
}

export function OverviewTab({ overview, reload }: Props) {
  return (
    <>
      <SummaryPanel overview={overview} />
      <PartiesPanel overview={overview} reload={reload} />
      <InputsPanel overview={overview} reload={reload} />
      <ApprovalsPanel overview={overview} reload={reload} />
    </>
  );
}
