/**
 * Answers the questions of one turn of the event loop with one call, because a call of the table takes more time than what it reads.
 * @param answerAll answers questions in their order
 */
export function together<Question, Answer>(
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
    const place = questions.push(question) - 1;
    answers ??= ask();
    return (await answers)[place] as Answer;
  };
}
