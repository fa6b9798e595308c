/**
 * Combines the questions of one turn of the event loop into one call. If that fails, each of them fails.
 * @param answerAll answers questions in their order
 */
export function batched<Question, Answer>(
  answerAll: (questions: Question[]) => Promise<Answer[]>,
): (question: Question) => Promise<Answer> {
  let questions: Question[] = [];
  let answers: Promise<Answer[]> | undefined;
  const ask = async () => {
    await new Promise(setImmediate);
    const asked = questions;
    questions = [];
    answers = undefined;
    return await answerAll(asked);
  };
  return async (question) => {
    const index = questions.push(question) - 1;
    answers ??= ask();
    return (await answers)[index] as Answer;
  };
}
