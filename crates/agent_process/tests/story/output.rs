//! Every byte arrives, however it is written.

use agent_process::{Exit, Framed, StdinMode, StdoutMode, spawn};
use bytes::Bytes;
use libtest_mimic::Trial;
use test_support::script::{ChildKind, Script, flood_line};

use super::{assert_success, collect, for_each_transport, run, trial, with_transport};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(for_each_transport(
        "a_flood_arrives_whole_and_in_the_raw_log",
        |scene, mode| async move {
            let (lines, line_bytes) = (20_000, 200);
            let spec = with_transport(scene.spec(&Script::new().flood(lines, line_bytes)), mode);
            let expected: Vec<u8> = (1..=lines)
                .flat_map(|number| flood_line(number, line_bytes))
                .collect();
            let (bytes, report) = run(spec).await;
            assert_success(&report);
            assert!(bytes == expected, "{} of {} bytes", bytes.len(), expected.len());
            assert!(scene.raw_log() == expected);
            assert_eq!(report.stdout_bytes, expected.len() as u64);
            assert!(!report.log_truncated && report.raw_log_error.is_none());
        },
    ));
    trials.extend(for_each_transport(
        "text_cut_inside_characters_arrives_whole",
        |scene, mode| async move {
            let text = "{\"text\":\"é漢🎉\u{2028}👩‍💻\"}\n".as_bytes().repeat(3);
            let script = Script::new().emit_split(text.clone(), 1..text.len());
            let (bytes, report) = run(with_transport(scene.spec(&script), mode)).await;
            assert_success(&report);
            assert_eq!(bytes, text);
        },
    ));
    trials.extend(for_each_transport(
        "a_megabyte_in_and_out_is_intact",
        |scene, mode| async move {
            let mut input: Vec<u8> = (0..1_000_000_u32)
                .map(|index| b'a' + (index % 26) as u8)
                .collect();
            input.push(b'\n');
            let mut spec = with_transport(scene.spec(&Script::new().echo()), mode);
            spec.stdin = StdinMode::Bytes(input.clone().into());
            let (bytes, report) = run(spec).await;
            assert_success(&report);
            assert!(bytes == input, "{} of {} bytes", bytes.len(), input.len());
            assert!(!report.stdin_cut);
        },
    ));
    trials.extend(for_each_transport(
        "output_arrives_before_the_child_goes_on",
        |scene, mode| async move {
            let gate = scene.path("gate");
            let script = Script::new().emit("first").wait_for_file(&gate).emit("second");
            let mut process = spawn(with_transport(scene.spec(&script), mode)).await.unwrap();
            assert_eq!(process.output.next_chunk().await.unwrap().unwrap(), "first\n");
            std::fs::write(&gate, "").unwrap();
            let (rest, report) = collect(process).await;
            assert_success(&report);
            assert_eq!(rest, b"second\n");
        },
    ));
    trials.extend(for_each_transport(
        "output_held_open_by_a_grandchild_ends_all_the_same",
        |scene, mode| async move {
            let pids = scene.path("pids");
            std::fs::create_dir(&pids).unwrap();
            let script = Script::new()
                .emit("done")
                .spawn_child(ChildKind::HoldsStdout, &pids)
                .exit(3);
            let mut spec = with_transport(scene.spec(&script), mode);
            spec.limits.drain = std::time::Duration::from_millis(100);
            let (bytes, report) = run(spec).await;
            assert_eq!(report.exit, Exit::Code(3));
            assert_eq!(bytes, b"done\n");
        },
    ));
    trials.push(trial(
        "a_burst_before_exit_is_whole_through_the_spool",
        |scene| async move {
            let length = 3 * 1024 * 1024;
            let spec = with_transport(
                scene.spec(&Script::new().burst(length).exit(0)),
                StdoutMode::Spool,
            );
            let (bytes, report) = run(spec).await;
            assert_success(&report);
            assert_eq!(bytes.len(), length);
            assert_eq!(scene.raw_log(), bytes);
        },
    ));
    trials.push(trial(
        "a_truncated_spool_is_noticed_and_never_followed_backwards",
        |scene| async move {
            let (cut, log) = (scene.path("cut"), scene.path("raw.ndjson"));
            let script = Script::new().emit("0123456789").wait_for_file(&cut).emit("x");
            let mut process = spawn(with_transport(scene.spec(&script), StdoutMode::Spool))
                .await
                .unwrap();
            assert_eq!(
                process.output.next_chunk().await.unwrap().unwrap(),
                "0123456789\n"
            );
            std::fs::OpenOptions::new()
                .write(true)
                .open(log)
                .unwrap()
                .set_len(0)
                .unwrap();
            std::fs::write(&cut, "").unwrap();
            let (bytes, report) = collect(process).await;
            assert_success(&report);
            assert!(report.log_truncated);
            assert_eq!(bytes, b"");
        },
    ));
    trials.push(trial(
        "a_large_prompt_and_large_output_do_not_deadlock",
        |scene| async move {
            let input = Bytes::from(vec![b'p'; 10 * 1024 * 1024]);
            let mut spec = scene.spec(&Script::new().echo());
            spec.stdin = StdinMode::Bytes(input.clone());
            let (bytes, report) = run(spec).await;
            assert_success(&report);
            assert!(bytes == input);
        },
    ));
    trials.push(trial(
        "a_flooded_stderr_does_not_stall_and_leaves_its_tail",
        |scene| async move {
            let script = Script::new()
                .flood_stderr(100_000_000)
                .stderr("last words\n")
                .emit("done");
            let mut spec = scene.spec(&script);
            spec.limits.stderr_tail_bytes = 1000;
            let (bytes, report) = run(spec).await;
            assert_success(&report);
            assert_eq!(bytes, b"done\n");
            assert_eq!(report.stderr_tail.len(), 1000);
            assert!(report.stderr_tail.ends_with(b"last words\n"));
            assert_eq!(report.stderr_bytes, 100_000_011);
        },
    ));
    trials.push(trial(
        "a_child_that_reads_to_the_end_first_starts_at_once",
        |scene| async move {
            let script = Script::new().read_to_end();
            let (bytes, report) = run(scene.spec(&script)).await;
            assert_success(&report);
            assert!(String::from_utf8(bytes).unwrap().contains("\"bytes\":0"));
        },
    ));
    trials.push(trial(
        "an_overlong_line_is_skipped_and_kept_in_the_raw_log",
        |scene| async move {
            let script = Script::new().emit("one").long_line(5_000).emit("three");
            let mut spec = scene.spec(&script);
            spec.limits.max_line_bytes = 1_000;
            let process = spawn(spec).await.unwrap();
            let mut lines = process.output.into_lines();
            let mut seen = Vec::new();
            while let Some(framed) = lines.next_line().await {
                seen.push(match framed.unwrap() {
                    Framed::Line(line) => String::from_utf8(line.bytes.to_vec()).unwrap(),
                    Framed::Overlong {
                        number, length_bytes, ..
                    } => format!("line {number}: {length_bytes}"),
                });
            }
            assert_eq!(seen[0], "one");
            assert!(seen[1].starts_with("line 2: "), "{seen:?}");
            assert_eq!(seen[2], "three");
            assert!(scene.raw_log().len() > 5_000);
            assert_success(&process.exit.await);
        },
    ));
    trials.push(trial(
        "an_unread_consumer_holds_the_child_back_and_loses_nothing",
        |scene| async move {
            let (lines, line_bytes) = (100_000, 100);
            let reached = scene.path("reached");
            let script = Script::new().flood(lines, line_bytes).create_file(&reached);
            let process = spawn(scene.spec(&script)).await.unwrap();
            // 10 MB fit neither into the pipe nor into the channel: what is read for nobody is bounded at any time.
            for _ in 0..5_000 {
                tokio::task::yield_now().await;
                let logged = std::fs::metadata(scene.path("raw.ndjson")).unwrap().len();
                assert!(logged < 3_000_000, "{logged} bytes were read for nobody");
            }
            assert!(!reached.exists());
            let (bytes, report) = collect(process).await;
            assert_success(&report);
            assert_eq!(bytes.len() as u64, lines * line_bytes as u64);
        },
    ));
    trials.extend(for_each_transport(
        "the_report_is_complete_though_nobody_reads",
        |scene, mode| async move {
            // Fits into pipe and channel, so that the child can exit; a terminal holds less.
            let lines = if matches!(mode, StdoutMode::Pty { .. }) {
                100
            } else {
                20_000
            };
            let spec = with_transport(scene.spec(&Script::new().flood(lines, 100)), mode);
            let process = spawn(spec).await.unwrap();
            let report = process.exit.await;
            assert_success(&report);
            assert_eq!(report.stdout_bytes, lines * 100);
            assert_eq!(scene.raw_log().len() as u64, lines * 100);
            let mut output = process.output;
            let mut delivered = 0;
            while let Some(chunk) = output.next_chunk().await {
                delivered += chunk.unwrap().len() as u64;
            }
            assert_eq!(delivered, lines * 100);
        },
    ));
    trials.extend(for_each_transport("odd_bytes_pass_unchanged", |scene, mode| async move {
        let odd = b"\xef\xbb\xbf{\"a\":\"\xe2\x80\xa8\"}\r\n\x00\x1b[?25h\xff\xfe\n\n\x03\x04\x11\x13banner\n{} {}\ntorn";
        let (bytes, report) = run(with_transport(scene.spec(&Script::new().emit_bytes(&odd[..])), mode)).await;
        assert_success(&report);
        assert_eq!(bytes, odd);
        assert_eq!(scene.raw_log(), odd);
    }));
    trials.push(trial("a_line_of_64_mebibytes_is_delivered", |scene| async move {
        let length = 64 * 1024 * 1024 - 1;
        let process = spawn(scene.spec(&Script::new().long_line(length).emit("next")))
            .await
            .unwrap();
        let mut lines = process.output.into_lines();
        let mut lengths = Vec::new();
        while let Some(Ok(Framed::Line(line))) = lines.next_line().await {
            lengths.push(line.bytes.len());
        }
        assert_eq!(lengths.len(), 2);
        assert!(lengths[0] >= length - 1 && lengths[1] == 4, "{lengths:?}");
    }));
    trials.extend(for_each_transport(
        "a_chattering_grandchild_cannot_put_off_the_end",
        |scene, mode| async move {
            let mut spec = agent_process::SpawnSpec::new("/bin/sh");
            spec.args = vec![
                "-c".into(),
                "(while :; do echo tick; sleep 0.02; done) & echo done; exit 0".into(),
            ];
            spec.cwd = Some(scene.folder().into());
            spec.raw_log = Some(scene.path("raw.ndjson"));
            spec.limits.drain = std::time::Duration::from_millis(500);
            let (bytes, report) = run(with_transport(spec, mode)).await;
            assert_success(&report);
            assert_eq!(scene.raw_log(), bytes);
        },
    ));
    trials
}
