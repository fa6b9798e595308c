import { Badge } from '@cloudscape-design/components';
import { plainName, userText } from 'computation-management-formats/quoted-name';
import { type ChangeCard, type Coverage, partsText, type SentencePart } from 'computation-management-words';
import type { ReactNode } from 'react';
import { creatorsOf, Parties } from '../manifest/manifest-view.tsx';
import { Name, Names } from '../show/index.ts';

/** Shows a sentence in parts, with the names in boxes and what must not be overlooked marked. */
export function Sentence({ of }: { of: readonly SentencePart[] }) {
  return of.map(({ text, names, warning }, index) => {
    const shown = warning === undefined ? text : <mark>{text}</mark>;
    return names === undefined ? (
      text
    ) : (
      <bdi key={index} className="name">
        {shown}
      </bdi>
    );
  });
}

interface Props {
  coverage: Coverage;
  /** The changes since the last approval of the user. What they are about is marked. */
  changes: readonly ChangeCard[];
  /** The sentence that says in words what the picture shows. */
  sentence: readonly SentencePart[];
}

/** Shows a picture of a computation: who brings which files, the algorithm and its machines, and who receives the results. */
export function Picture({ coverage: { files, receivers, configuration }, changes, sentence }: Props) {
  const [algorithm, ...datasets] = files;
  const isChanged = (of: ChangeCard['subject'][], isAbout: (card: ChangeCard) => boolean = () => true) =>
    changes.some((card) => of.includes(card.subject) && isAbout(card));
  const isNamed = (file: string) =>
    isChanged(['data', 'address', 'key'], ({ sentence }) =>
      [' ', ','].some((end) => `${sentence} `.includes(` ${plainName(file)}${end}`)),
    );
  const isOfUser = (users: readonly string[]) =>
    isChanged(
      ['receiver', 'key'],
      ({ user, subject, sentence }) =>
        user !== null && users.includes(user) && (subject === 'receiver' || sentence.includes(`the key of ${userText(user)}`)),
    );
  const review = configuration.result_review;
  return (
    <div role="img" aria-label={`Picture: ${partsText(sentence)}`} className="picture">
      <div>
        {[...Map.groupBy(datasets, ({ asset }) => asset?.created_by).values()].map((brought) => {
          const names = brought.map(({ name = '' }) => name);
          return (
            <Node key={brought[0]?.index} side="brings" isChanged={names.some(isNamed)}>
              <Parties of={creatorsOf(brought[0]?.asset)} /> brings <Names of={names} />
            </Node>
          );
        })}
      </div>
      <Node isChanged={isChanged(['code', 'machine']) || isNamed(algorithm?.name ?? 'the algorithm')}>
        <Name of={algorithm?.name ?? 'Algorithm'} /> of <Parties of={creatorsOf(algorithm?.asset)} /> reads it on{' '}
        {sentence.find(({ names }) => names === 'machines')?.text}
      </Node>
      <div>
        {receivers.map(({ index, users = [] }) => (
          <Node key={index} side="receives" isChanged={isOfUser(users)}>
            <Parties of={users} /> {review ? 'reviews' : 'receives'} the results
          </Node>
        ))}
        {review && (
          <Node side="receives" isChanged={isOfUser(review.consumers)}>
            <Parties of={review.consumers} /> receives what is released
          </Node>
        )}
      </div>
    </div>
  );
}

/** Shows a box of the picture, with the arrow from a party who brings files, or to one who receives the results. */
function Node({ side, isChanged, children }: { side?: 'brings' | 'receives'; isChanged: boolean; children: ReactNode }) {
  return (
    <div className={`node ${side ?? ''} ${isChanged ? 'is-changed' : ''}`}>
      <div className="box">
        {children} {isChanged && <Badge color="red">changed</Badge>}
      </div>
    </div>
  );
}
