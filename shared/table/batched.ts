/**
 * Returns a function that collects the questions asked in one turn of the event loop and answers all of them with one call of
 * `answerAll`. If this call fails, every question of the turn fails.
 * @param answerAll returns the answers in the order of the questions
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
