import * as v from 'valibot';
import { assetsPerComputation, datasetsPerComputation, nameOfComputation } from '../computations/computation.ts';
import { idOfComputation } from '../identifier-schemas.ts';
import { shownDescription } from '../description.ts';
import { shownText } from '../text.ts';

const hash = v.pipe(
  v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  v.length(32),
  v.description('The SHA3-256 of the file, as 32 integers from 0 to 255.'),
);

const userKey = v.pipe(
  v.string(),
  v.base64(),
  v.minLength(1),
  v.description('The public key as DER SubjectPublicKeyInfo, base64.'),
  v.metadata({ maxLength: 16 * 1024 }),
);

const dataset = v.pipe(
  v.object({ hash, user_key: userKey, filename: v.pipe(shownText(255), v.minLength(1), v.description('The name of the file.')) }),
  v.title('ManifestDataset'),
  v.description('A dataset of a run.'),
);

/** The manifest of a run, in the form that the agent and its checking tools read. Any other form would crash the agent. */
export const manifestSchema = v.pipe(
  v.object({
    id: idOfComputation,
    name: nameOfComputation,
    description: shownDescription,
    datasets: v.pipe(
      v.array(dataset),
      v.description('The datasets, in the order in which they were linked.'),
      v.metadata({ maxItems: datasetsPerComputation }),
    ),
    algorithm: v.pipe(
      v.object({ hash, user_key: userKey }),
      v.title('ManifestAlgorithm'),
      v.description('The algorithm of a run.'),
    ),
    result_consumers: v.pipe(
      v.array(
        v.pipe(
          v.object({ user_key: userKey }),
          v.title('ManifestConsumer'),
          v.description('The key of a user who may fetch the result of a run.'),
        ),
      ),
      v.minLength(1),
      v.description('The keys of the users who may fetch the result, the owner first.'),
    ),
  }),
  v.title('Manifest'),
  v.description('What a run uses, and who may fetch its result: the form that the agent in the CVM reads.'),
);
export type Manifest = v.InferOutput<typeof manifestSchema>;

/** The items that are missing before a run. If all lists are empty, the computation is ready to run. */
export const missingItemsSchema = v.pipe(
  v.object({
    keys: v.pipe(v.array(shownText(255)), v.description('The users who must upload their public key.')),
    hashes: v.pipe(
      v.array(shownText(255)),
      v.description('The file names of linked assets without content.'),
      v.metadata({ maxItems: assetsPerComputation }),
    ),
    info: v.pipe(
      v.array(shownText(1_000)),
      v.description('Everything else that is missing, as sentences.'),
      v.examples([['Missing algorithm']]),
    ),
  }),
  v.title('MissingItems'),
  v.description('What is missing before a run. If all lists are empty, the computation is ready to run.'),
);
export type MissingItems = v.InferOutput<typeof missingItemsSchema>;
