//! `find_cycles()`: tasks that wait for each other, over dependencies and parents together.
//!
//! A task begins after the dependencies of itself and of its ancestors, and a parent ends after its children. So each
//! task has two nodes: `Begin` waits for the end of its dependencies and for the beginning of its parent, `End` for its
//! own beginning and for the end of its children.

use std::collections::{BTreeMap, BTreeSet};

use yaml_tree::Position;

use crate::id::TaskId;
use crate::task::{Link, Task};

/// Tasks that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// Each waits for the next one, the last one for the first.
    pub(crate) ids: Vec<TaskId>,
    /// The link of the first one, in its file.
    pub(crate) at: Position,
    /// Whether it consists of parents only.
    pub(crate) is_parents: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node<'a> {
    Begin(&'a TaskId),
    End(&'a TaskId),
}

impl<'a> Node<'a> {
    fn id(self) -> &'a TaskId {
        match self {
            Self::Begin(id) | Self::End(id) => id,
        }
    }
}

type Tasks = BTreeMap<TaskId, Task>;
type Children = BTreeMap<TaskId, Vec<TaskId>>;

/// At least one cycle for each group of tasks that wait for each other.
pub(crate) fn find_cycles(tasks: &Tasks, children: &Children) -> Vec<Cycle> {
    let mut done: BTreeSet<Node<'_>> = BTreeSet::new();
    let mut cycles = Vec::new();
    for id in tasks.keys() {
        cycles.extend(search(Node::End(id), tasks, children, &mut done));
    }
    cycles
}

/// A depth-first search without recursion: a backlog can be a chain of thousands of tasks.
fn search<'a>(
    start: Node<'a>,
    tasks: &'a Tasks,
    children: &'a Children,
    done: &mut BTreeSet<Node<'a>>,
) -> Vec<Cycle> {
    let mut cycles = Vec::new();
    let mut reported: BTreeSet<&TaskId> = BTreeSet::new();
    let mut path: Vec<(Node<'a>, Vec<Node<'a>>)> = Vec::new();
    let mut on_path: BTreeSet<Node<'a>> = BTreeSet::new();
    if !done.contains(&start) {
        on_path.insert(start);
        path.push((start, waits_for(start, tasks, children)));
    }
    while let Some((node, open)) = path.last_mut() {
        let node = *node;
        let Some(next) = open.pop() else {
            done.insert(node);
            on_path.remove(&node);
            path.pop();
            continue;
        };
        if on_path.contains(&next) {
            let nodes = path.iter().map(|(node, _)| *node);
            let nodes: Vec<Node<'_>> = nodes.skip_while(|node| *node != next).collect();
            // Two cycles with a task in common are often one mistake, and there can be very many of them.
            if !nodes.iter().any(|node| reported.contains(node.id())) {
                reported.extend(nodes.iter().map(|node| node.id()));
                cycles.extend(cycle(&nodes, tasks));
            }
        } else if !done.contains(&next) {
            on_path.insert(next);
            path.push((next, waits_for(next, tasks, children)));
        }
    }
    cycles
}

fn waits_for<'a>(node: Node<'a>, tasks: &'a Tasks, children: &'a Children) -> Vec<Node<'a>> {
    let Some(task) = tasks.get(node.id()) else {
        return Vec::new();
    };
    let is_known = |id: &&TaskId| tasks.contains_key(*id);
    match node {
        Node::Begin(_) => {
            let parent = task.parent.iter().map(|link| &link.id).filter(is_known);
            let dependencies = task.depends_on.iter().map(|link| &link.id).filter(is_known);
            parent
                .map(Node::Begin)
                .chain(dependencies.map(Node::End))
                .collect()
        }
        Node::End(id) => {
            let children = children.get(id).into_iter().flatten();
            std::iter::once(Node::Begin(id))
                .chain(children.map(Node::End))
                .collect()
        }
    }
}

fn cycle(nodes: &[Node<'_>], tasks: &Tasks) -> Option<Cycle> {
    let is_parents = nodes.iter().all(|node| matches!(node, Node::Begin(_)))
        || nodes.iter().all(|node| matches!(node, Node::End(_)));
    let mut ids: Vec<TaskId> = Vec::new();
    for node in nodes {
        if ids.last() != Some(node.id()) && ids.first() != Some(node.id()) {
            ids.push(node.id().clone());
        }
    }
    // It is reported in a file that names the next task. A parent does not name its children.
    let names = |id: &TaskId, other: &TaskId| {
        let task = tasks.get(id);
        task.is_some_and(|task| links(task).any(|link| link.id == *other))
    };
    let following = ids.iter().cycle().skip(1);
    let start = ids.iter().zip(following).position(|(id, other)| names(id, other));
    ids.rotate_left(start.unwrap_or_default());
    let task = tasks.get(ids.first()?)?;
    let second = ids.get(1).or(ids.first());
    let link = links(task).find(|link| Some(&link.id) == second);
    let at = link
        .or_else(|| links(task).next())
        .map_or(task.at, |link| link.at);
    Some(Cycle { ids, at, is_parents })
}

fn links(task: &Task) -> impl Iterator<Item = &Link> {
    task.depends_on.iter().chain(&task.parent)
}
