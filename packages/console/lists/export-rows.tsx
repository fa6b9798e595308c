import { ButtonDropdown } from '@cloudscape-design/components';
import { csvText } from 'computation-management-words';
import { useFrame } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { saveFile } from '../show/save-file.ts';

/** Reading more would keep the page and the service busy for minutes. */
const mostRows = 10_000;

interface Props<Row> {
  title: string;
  /** All rows that the filters match. */
  all: () => AsyncIterable<Row>;
  /** What is saved of a row. Default: the row as the API gives it. */
  saved?: ((row: Row) => object) | undefined;
}

/** Saves all rows of a list as CSV or JSON, whatever page is shown. */
export function ExportRows<Row>({ title, all, saved = (row) => row as object }: Props<Row>) {
  const { notify } = useFrame();
  const save = useAction(async (form: string) => {
    const rows: object[] = [];
    let isCut = false;
    for await (const row of all()) {
      if ((isCut = rows.length === mostRows)) break;
      rows.push(saved(row));
    }
    const name = title.toLowerCase();
    if (form === 'csv') saveFile(`${name}.csv`, csvText(rows), 'text/csv');
    else saveFile(`${name}.json`, `${JSON.stringify({ items: rows }, null, 2)}\n`);
    notify(isCut ? `Only the first ${mostRows} rows are saved. Filter the list for others.` : `${rows.length} rows are saved.`);
  });
  return (
    <>
      <ProblemAlert problem={save.problem} />
      <ButtonDropdown
        ariaLabel={`Save as a file: ${title.toLowerCase()}`}
        loading={save.isRunning}
        items={[
          { id: 'csv', text: 'CSV, for spreadsheets' },
          { id: 'json', text: 'JSON' },
        ]}
        onItemClick={({ detail: { id } }) => void save.run(id)}
      >
        Save as
      </ButtonDropdown>
    </>
  );
}
