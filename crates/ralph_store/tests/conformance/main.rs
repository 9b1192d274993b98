//! One story, told to both engines: whatever can be asked, they answer alike.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod costs;
mod forget;
mod homes;
mod ingest;
mod journal;
mod lists;
mod load;
#[cfg(unix)]
mod postgres_alone;
#[cfg(unix)]
mod postgres_odd;
mod search;
mod stage;
mod within;
mod work;

/// Each part of the story as a test of each engine.
macro_rules! story {
    ($($chapter:ident: $($part:ident),+;)+) => {
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $part() {
                let stage = crate::stage::Stage::sqlite().await;
                crate::$chapter::$part(&stage).await;
            })+)+
        }

        #[cfg(unix)]
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $part() {
                let stage = crate::stage::Stage::postgres().await;
                crate::$chapter::$part(&stage).await;
            })+)+
        }
    };
}

story! {
    ingest:
        the_same_again_changes_nothing,
        a_batch_that_overlaps_adds_what_is_new,
        a_gap_is_told_and_never_kept,
        several_batches_of_one_run_are_taken_in_order,
        another_journal_under_the_same_name_replaces_the_run,
        a_fold_goes_on_where_the_index_stopped,
        what_a_batch_changes_takes_the_place_of_what_was_there,
        nothing_is_no_error;
    lists:
        pages_of_runs_neither_lose_nor_repeat_any_while_others_begin,
        runs_are_found_by_what_is_asked,
        runs_of_a_conversation_are_newest_first,
        every_character_is_kept;
    work:
        questions_wait_until_they_are_closed,
        messages_say_what_became_of_them,
        costs_are_what_was_spent_however_they_are_added_up,
        the_first_response_to_a_request_is_the_one_that_is_kept;
    search:
        words_phrases_and_beginnings_are_found,
        a_hit_says_where_it_stands_and_marks_the_words,
        a_search_can_be_narrowed,
        what_was_said_after_the_clock_went_back_is_found_by_its_time,
        what_is_better_and_newer_comes_first,
        pages_have_every_hit_once_while_more_come_in,
        more_hits_than_are_ranked_are_said,
        phrases_are_found_far_behind_in_a_long_text,
        characters_are_found_anywhere,
        a_cursor_of_another_search_is_refused,
        nothing_is_lost_or_doubled_however_often_it_is_indexed,
        a_run_with_another_journal_has_other_words;
    within:
        a_question_about_some_workspaces_has_no_answer_from_others,
        what_the_text_index_lacks_is_counted_in_these_workspaces_only;
    forget:
        removed_runs_are_forgotten_and_others_are_not,
        everything_but_answers_and_costs_is_forgotten_when_it_is_cleared,
        after_a_rebuild_everything_is_as_it_was,
        a_closed_index_answers_nothing,
        another_server_is_refused_until_the_first_one_leaves;
    costs:
        rows_add_up_to_the_totals_even_when_those_fall,
        sums_beyond_the_largest_integer_are_capped,
        costs_outlive_their_runs_and_never_count_twice,
        removed_runs_without_a_known_cost_cost_nothing,
        costs_of_old_runs_stay_the_same_as_daily_sums,
        a_run_that_grows_after_its_usage_was_compacted_is_read_again,
        runs_are_counted_by_why_they_ended;
    homes:
        the_index_of_another_home_is_refused_and_left_as_it_is,
        an_index_without_an_id_belongs_to_the_first_home_that_opens_it,
        an_index_that_is_taken_over_has_nothing_of_the_other_home,
        runs_of_an_older_fold_stay_listed_until_they_are_read_again,
        a_database_restored_from_an_older_dump_is_caught_up;
    load:
        fifty_writers_and_readers_do_not_disturb_each_other,
        real_journals_are_taken_in_live_and_at_once_alike;
}
