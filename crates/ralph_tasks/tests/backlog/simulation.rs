//! A backlog that is worked off by a simulated reconciler, over random trees, files and failures.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use proptest::prelude::{ProptestConfig, any, proptest};
use ralph_tasks::{
    Backlog, Base, Board, Claim, ClaimState, Claims, Column, Failure, Limits, TaskId, first_overlap, next,
    parse_task,
};

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

struct World {
    random: Random,
    /// Lines of front matter, without the status.
    tasks: BTreeMap<String, String>,
    done: BTreeSet<String>,
    claims: Claims,
    starts: BTreeMap<TaskId, usize>,
    limits: Limits,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let count = 1 + random.below(24);
        let names: Vec<String> = (0..count).map(|number| format!("a{number:04}")).collect();
        let folders = ["src", "src/a", "src/b/**", "docs", "**/*.md", "web"];
        let mut tasks = BTreeMap::new();
        for (number, name) in names.iter().enumerate() {
            let mut lines = format!("priority: {}\n", random.below(5));
            // Only earlier ones are named, so that there are no cycles. A parent is not waited for by its children.
            let parent = (number > 0 && random.below(4) == 0).then(|| random.below(number));
            if let Some(parent) = parent {
                lines.push_str(&format!("parent: {}\n", names[parent]));
            } else if number > 0 && random.below(2) == 0 {
                lines.push_str(&format!("depends_on: [{}]\n", names[random.below(number)]));
            }
            if random.below(3) > 0 {
                lines.push_str(&format!(
                    "touches: [\"{}\"]\n",
                    folders[random.below(folders.len())]
                ));
            }
            tasks.insert(name.clone(), lines);
        }
        let limits = Limits {
            parallel: 1 + random.below(5),
            max_review: (random.below(2) == 0).then(|| 1 + random.below(4)),
            max_attempts: 2,
            max_same_failures: 0,
        };
        Self {
            random,
            tasks,
            done: BTreeSet::new(),
            claims: Claims::new(),
            starts: BTreeMap::new(),
            limits,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        let lines = self.tasks.get(name)?;
        let status = if self.done.contains(name) { "done" } else { "todo" };
        Some(format!(
            "---\nid: {name}\ntitle: T\nstatus: {status}\n{lines}---\n"
        ))
    }

    fn read(&self) -> (Backlog, Base) {
        let files = self
            .tasks
            .keys()
            .map(|name| parse_task(&format!("{name}.md"), &self.text(name).unwrap()));
        let backlog = Backlog::new(files);
        let base = Base::of_commit(&backlog, |path| self.text(path.strip_suffix(".md")?));
        (backlog, base)
    }

    /// One round of a reconciler. False if nothing is left to do.
    fn round(&mut self) -> bool {
        let (backlog, base) = self.read();
        let board = Board::new(&backlog, &base, &self.claims, self.limits);
        let selection = next(&board);
        assert_eq!(selection, next(&board), "the same board gives the same selection");
        for id in &selection.start {
            let card = board.card(id).unwrap();
            assert_eq!(card.column, Column::Ready);
            assert!(backlog.children(id).is_empty(), "only leaves are worked on");
            for dependency in backlog.dependencies(id) {
                let column = board.card(&dependency).unwrap().column;
                assert_eq!(column, Column::Done, "{id} starts before {dependency}");
            }
            *self.starts.entry(id.clone()).or_default() += 1;
        }
        let started: Vec<TaskId> = selection.start;
        for id in started {
            let before = self.claims.remove(&id);
            let failures = before.map_or_else(Vec::new, |claim| claim.failures);
            let claim = Claim {
                version: 1,
                task: id.clone(),
                state: ClaimState::Doing,
                attempt: failures.len() as u32 + 1,
                run: format!("run-{}", self.starts[&id]),
                agent: None,
                touches: Vec::new(),
                failures,
                since: Timestamp::UNIX_EPOCH,
            };
            assert!(
                self.claims.insert(id, claim).is_none(),
                "a task is worked on once at a time"
            );
        }
        self.check_together(&backlog);
        self.advance()
    }

    /// What is not merged never overlaps, and stays within the limits.
    fn check_together(&self, backlog: &Backlog) {
        let held: Vec<&Claim> = self.claims.values().filter(|claim| claim.is_held()).collect();
        for (place, one) in held.iter().enumerate() {
            for other in &held[..place] {
                let touches = |claim: &Claim| backlog.task(&claim.task).unwrap().touches.clone();
                assert_eq!(first_overlap(&touches(one), &touches(other)), None);
            }
        }
        let doing = held
            .iter()
            .filter(|claim| claim.state == ClaimState::Doing)
            .count();
        assert!(doing <= self.limits.parallel);
        assert!(self.limits.max_review.is_none_or(|limit| held.len() <= limit));
    }

    /// Something happens to one of the claims.
    fn advance(&mut self) -> bool {
        let held: Vec<TaskId> = self
            .claims
            .values()
            .filter(|claim| claim.is_held())
            .map(|claim| claim.task.clone())
            .collect();
        if held.is_empty() {
            return false;
        }
        let id = held[self.random.below(held.len())].clone();
        let fails = self.random.below(4) == 0;
        let claim = self.claims.get_mut(&id).unwrap();
        match (claim.state, fails) {
            (ClaimState::Doing, false) => claim.state = ClaimState::Review,
            (_, true) => {
                claim.state = ClaimState::Released;
                claim.failures.push(Failure {
                    run: claim.run.clone(),
                    attempt: claim.attempt,
                    at: Timestamp::UNIX_EPOCH,
                    evidence: Some(format!("error of {id}")),
                });
            }
            (_, false) => {
                self.claims.remove(&id);
                assert!(self.done.insert(id.to_string()), "a task is merged once");
            }
        }
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn a_backlog_is_worked_off_in_order_without_overlaps_and_each_task_once(seed in any::<u64>()) {
        let mut world = World::new(seed);
        let mut rounds = 0;
        while world.round() {
            rounds += 1;
            assert!(rounds < 1_000, "it never ends");
        }
        let (backlog, base) = world.read();
        assert_eq!(backlog.problems(), []);
        let board = Board::new(&backlog, &base, &world.claims, world.limits);
        for card in board.cards() {
            let starts = world.starts.get(&card.task.id).copied().unwrap_or_default();
            let failed = world.claims.get(&card.task.id).map_or(0, Claim::failed_attempts);
            assert!(starts <= world.limits.max_attempts);
            match card.column {
                Column::Done if backlog.children(&card.task.id).is_empty() => assert!(starts >= 1),
                Column::Done => assert_eq!(starts, 0),
                Column::Blocked => assert_eq!((starts, failed), (2, 2)),
                // Something that it waits for, or that is below it, is blocked.
                Column::Todo => assert_eq!(starts, 0),
                Column::Ready | Column::Doing | Column::Review => panic!("{} is left {:?}", card.task.id, card.column),
            }
        }
    }
}
