import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import Container from '@cloudscape-design/components/container';
import Header from '@cloudscape-design/components/header';
import { ServiceProblem } from 'computation-management-client';
import { LoadedView } from '../loading/loaded-view.tsx';
import { missingSentences } from '../loading/problem-text.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { useDomain } from '../shell/console-context.ts';
import { saveFile } from '../show/save-file.ts';
import { loadManifest } from './load-manifest.ts';
import { ManifestView } from './manifest-view.tsx';

interface Props {
  id: string;
  /** The digest of the present manifest: another one loads it again. */
  digest?: string | undefined;
  /** The run whose manifest to show. Default: that of a run started now. */
  run?: string;
}

/** The manifest of a run, or what a run would still need. */
export function ManifestTab({ id, digest, run }: Props) {
  const { client } = useDomain();
  const loaded = useLoaded(`${id} ${run ?? ''} ${digest ?? ''}`, (signal) => loadManifest(client, { id, run, signal }));
  const { problem, value } = loaded;
  if (problem instanceof ServiceProblem && problem.missing_items) {
    return (
      <Alert type="info" header="There is no manifest yet">
        A manifest exists when nothing of it is missing. Still missing:
        <ul>
          {missingSentences(problem.missing_items).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Alert>
    );
  }
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={
            run === undefined
              ? 'What a run started now would be allowed to use, and who would get its results.'
              : 'What the CVM of this run is allowed to use, and who gets the results.'
          }
          actions={
            value && (
              <Button onClick={() => saveFile(`manifest-${run ?? id}.json`, JSON.stringify(value.manifest))}>
                Download manifest
              </Button>
            )
          }
        >
          Manifest
        </Header>
      }
    >
      <LoadedView loaded={loaded} what="the manifest">
        {(found) => <ManifestView {...found} />}
      </LoadedView>
    </Container>
  );
}
