//! `whole_answers`: the questions and options that an answer names. Events show them within bounds, so an answer may name
//! them in part.

use crate::bounds::cut_message;
use crate::event::Question;

/// For each answer (the question's text and the answer, as they were shown): the index of its question, and the answer
/// with whole labels. `None` if there is no such question.
pub(super) fn whole_answers(
    questions: &[Question],
    answers: &[(String, String)],
) -> Vec<Option<(usize, String)>> {
    let mut is_answered = vec![false; questions.len()];
    let whole_answer = |(shown, answer): &(String, String)| {
        let is_it = |index: &usize| {
            let text = &questions[*index].text;
            text == shown || cut_message(text.clone()) == *shown
        };
        let matching = || (0..questions.len()).filter(is_it);
        // Questions that are equal where they were cut are answered in their order.
        let index = matching()
            .find(|index| !is_answered[*index])
            .or_else(|| matching().next())?;
        is_answered[index] = true;
        let mut answer = answer.clone();
        for option in &questions[index].options {
            let shown = cut_message(option.label.clone());
            if shown != option.label {
                // An answer can name several labels.
                answer = answer.replace(&shown, &option.label);
            }
        }
        Some((index, answer))
    };
    answers.iter().map(whole_answer).collect()
}
