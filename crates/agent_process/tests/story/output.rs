//! All bytes arrive, whichever transport is used and however they are written.

use agent_process::{StdinMode, StdoutMode, spawn};
use bytes::Bytes;
use libtest_mimic::Trial;
#[cfg(unix)]
use test_support::script::ChildKind;
use test_support::script::{Script, flood_line};

use super::{assert_success, collect, for_each_transport, run, trial, wait_until, with_transport};

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
    #[cfg(unix)]
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
            assert_eq!(report.exit, agent_process::Exit::Code(3));
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
    #[cfg(unix)]
    trials.push(trial(
        "output_arrives_while_stderr_is_flooded",
        |scene| async move {
            let mut spec = scene.spec(&Script::new());
            spec.program = "/bin/sh".into();
            spec.args = vec![
                "-c".into(),
                "yes >&2 & yes >&2 & read go; echo heard; wait".into(),
            ];
            spec.stdin = StdinMode::Piped;
            spec.stderr = agent_process::StderrMode::Stream;
            spec.stderr_log = Some(scene.path("stderr.log"));
            let mut process = spawn(spec).await.unwrap();
            let mut stdin = process.stdin.take().unwrap();
            let mut stderr = process.stderr.take().unwrap();
            for _ in 0..100 {
                stderr.next_chunk().await.unwrap();
            }
            tokio::io::AsyncWriteExt::write_all(&mut stdin, b"go\n")
                .await
                .unwrap();
            assert_eq!(process.output.next_chunk().await.unwrap().unwrap(), "heard\n");
            process.control.kill();
            collect(process).await;
        },
    ));
    #[cfg(unix)]
    trials.push(trial(
        "a_spool_without_a_consumer_is_counted_to_its_end",
        |scene| async move {
            let gate = scene.path("gate");
            let script = Script::new()
                .ignore_signals([test_support::script::Signal::Interrupt])
                .emit("ready")
                .wait_for_file(&gate)
                .emit("unread");
            let mut spec = with_transport(scene.spec(&script), StdoutMode::Spool);
            // Dropping the output stops the child; it gets the time to write first.
            spec.limits.interrupt_grace = std::time::Duration::MAX;
            let process = super::spawn_ready(spec).await;
            drop(process.output);
            std::fs::write(&gate, "").unwrap();
            let report = process.exit.await;
            assert_eq!(report.stdout_bytes, scene.raw_log().len() as u64);
            assert!(!report.log_truncated);
        },
    ));
    trials.push(trial(
        "a_truncated_spool_is_reported_although_the_consumer_is_slow",
        |scene| async move {
            let (written, cut, log) = (scene.path("written"), scene.path("cut"), scene.path("raw.ndjson"));
            let script = Script::new()
                .flood(80_000, 100)
                .create_file(&written)
                .wait_for_file(&cut);
            let mut process = spawn(with_transport(scene.spec(&script), StdoutMode::Spool))
                .await
                .unwrap();
            process.output.next_chunk().await.unwrap().unwrap();
            wait_until(|| written.exists()).await;
            let file = std::fs::OpenOptions::new().write(true).open(log).unwrap();
            file.set_len(0).unwrap();
            std::fs::write(&cut, "").unwrap();
            assert!(process.exit.await.log_truncated);
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
        "an_unread_consumer_holds_the_child_back_and_loses_nothing",
        |scene| async move {
            let (lines, line_bytes) = (100_000, 100);
            let reached = scene.path("reached");
            let script = Script::new().flood(lines, line_bytes).create_file(&reached);
            let mut process = spawn(scene.spec(&script)).await.unwrap();
            let first = process.output.next_chunk().await.unwrap().unwrap();
            // While another child writes the same 10 MB to a consumer that reads, this one cannot finish: its output fits
            // neither into the pipe nor into the channel.
            let mut other = scene.spec(&Script::new().flood(lines, line_bytes));
            other.raw_log = None;
            assert_success(&run(other).await.1);
            let logged = std::fs::metadata(scene.path("raw.ndjson")).unwrap().len();
            assert!(logged < 3_000_000, "{logged} bytes were read without a consumer");
            assert!(!reached.exists());
            let (rest, report) = collect(process).await;
            assert_success(&report);
            assert_eq!((first.len() + rest.len()) as u64, lines * line_bytes as u64);
        },
    ));
    trials.extend(for_each_transport(
        "the_report_is_complete_though_nobody_reads",
        |scene, mode| async move {
            // Fits into pipe and channel, so that the child can exit. Terminals, and pipes elsewhere, hold less.
            let lines = if matches!(mode, StdoutMode::Pty { .. }) || !cfg!(target_os = "linux") {
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
        let (bytes, report) = run(scene.spec(&Script::new().long_line(length).emit("next"))).await;
        assert_success(&report);
        let lengths: Vec<usize> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        assert_eq!(lengths.len(), 3, "two lines and nothing behind the last one");
        assert!(lengths[0] >= length - 1 && lengths[1..] == [4, 0], "{lengths:?}");
    }));
    #[cfg(unix)]
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
