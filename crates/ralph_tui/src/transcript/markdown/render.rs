//! `render_markdown()`: a finished block of Markdown as lines.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Modifier;

use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use super::super::syntax::Highlighter;
use super::table::Table;
use crate::theme::Role;

/// Quotes and lists inside of more than this many others are not indented further. An agent can nest thousands in a short
/// text, and every line of it would begin with all of their bars.
const MAX_LEADS: usize = 8;

/// Renders Markdown that is sanitised. What entities in it stand for is sanitised by `Line`.
pub(in crate::transcript) fn render_markdown(text: &str, base: Look, lead: &str, sheet: &mut Sheet) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer {
        sheet,
        source: text,
        base,
        looks: vec![base],
        outer_lead: lead.to_owned(),
        leads: Vec::new(),
        bullet: None,
        lists: Vec::new(),
        line: Line::default(),
        is_in_line: false,
        links: Vec::new(),
        code: None,
        table: None,
        needs_gap: false,
    };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        renderer.event(event, range);
    }
    renderer.end_line();
}

struct Renderer<'a> {
    sheet: &'a mut Sheet,
    source: &'a str,
    base: Look,
    looks: Vec<Look>,
    outer_lead: String,
    /// What stands before rows because of quotes and lists around them.
    leads: Vec<&'static str>,
    /// The mark of the item that begins.
    bullet: Option<String>,
    /// The next number of each list around; none for bullets.
    lists: Vec<Option<u64>>,
    line: Line,
    is_in_line: bool,
    /// Where links go, and where their text starts in the line.
    links: Vec<(String, usize)>,
    code: Option<Option<Highlighter>>,
    table: Option<Table>,
    needs_gap: bool,
}

impl Renderer<'_> {
    fn event(&mut self, event: Event<'_>, range: std::ops::Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.code_lines(&text),
            Event::Text(text) => self.push(&text, self.look()),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let look = self.look();
                self.push(
                    &text,
                    Look {
                        role: Some(Role::Code),
                        ..look
                    },
                );
            }
            Event::Html(text) => {
                for line in text.lines() {
                    self.push(line, self.look());
                    self.end_line();
                }
            }
            Event::InlineHtml(text) | Event::FootnoteReference(text) => self.push(&text, self.look()),
            Event::SoftBreak | Event::HardBreak => {
                if self.table.is_some() {
                    self.push(" ", self.look());
                } else {
                    self.end_line();
                }
            }
            Event::Rule => {
                self.start_block();
                let mut line = self.new_line();
                line.has_rule = true;
                self.sheet.push(line);
                self.needs_gap = true;
            }
            Event::TaskListMarker(is_done) => {
                self.push(if is_done { "[x] " } else { "[ ] " }, self.look());
            }
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: std::ops::Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.start_block(),
            Tag::Heading { level, .. } => {
                self.start_block();
                let look = Look::of(Role::Strong);
                self.looks.push(match level {
                    HeadingLevel::H1 | HeadingLevel::H2 => look.with(Modifier::UNDERLINED),
                    _ => look,
                });
                let mark = "#".repeat(*level as usize);
                self.push(&format!("{mark} "), Look::of(Role::Faint));
            }
            Tag::BlockQuote(_) => {
                self.start_block();
                self.push_lead("│ ");
            }
            Tag::CodeBlock(kind) => {
                self.start_block();
                self.code = Some(match kind {
                    CodeBlockKind::Fenced(language) => Highlighter::for_language(language),
                    CodeBlockKind::Indented => None,
                });
            }
            Tag::List(first) => {
                self.end_line();
                if self.lists.is_empty() {
                    self.start_block();
                }
                self.lists.push(*first);
            }
            Tag::Item => {
                self.end_line();
                self.needs_gap = false;
                self.bullet = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                });
                self.push_lead("  ");
            }
            Tag::Table(alignments) => {
                self.start_block();
                let source = self.source.get(range).unwrap_or_default();
                self.table = Some(Table::new(alignments.clone(), source.to_owned()));
            }
            Tag::TableRow | Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::TableCell => self.line = Line::default(),
            Tag::Emphasis => self.push_modifier(Modifier::ITALIC),
            Tag::Strong => self.push_modifier(Modifier::BOLD),
            Tag::Strikethrough => self.push_modifier(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.push_modifier(Modifier::UNDERLINED);
                self.links.push((dest_url.to_string(), self.line.text.len()));
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.end_line();
                self.needs_gap = true;
            }
            TagEnd::Heading(_) => {
                self.end_line();
                self.looks.pop();
                self.needs_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.leads.pop();
                self.needs_gap = true;
            }
            TagEnd::CodeBlock => {
                self.code = None;
                self.needs_gap = true;
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
                self.needs_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                if self.bullet.is_some() {
                    // An item without a text.
                    self.push("", self.look());
                    self.is_in_line = true;
                }
                self.end_line();
                self.leads.pop();
                self.needs_gap = false;
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let lead = self.lead();
                    table.render(&lead, self.sheet);
                }
                self.line = Line::default();
                self.needs_gap = true;
            }
            TagEnd::TableCell => {
                let line = std::mem::take(&mut self.line);
                self.is_in_line = false;
                if let Some(table) = &mut self.table {
                    table.push_cell(line);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.looks.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// The address of a link follows its text, unless it is the text.
    fn end_link(&mut self) {
        self.looks.pop();
        if let Some((url, start)) = self.links.pop() {
            let text = self.line.text.get(start..).unwrap_or_default();
            if !url.is_empty() && text != url {
                self.push(&format!(" ({url})"), Look::of(Role::Faint));
            }
        }
    }

    fn look(&self) -> Look {
        self.looks.last().copied().unwrap_or(self.base)
    }

    fn push_modifier(&mut self, modifier: Modifier) {
        let look = self.look();
        self.looks.push(look.with(modifier));
    }

    fn push_lead(&mut self, lead: &'static str) {
        let is_too_deep = self.leads.len() >= MAX_LEADS;
        self.leads.push(if is_too_deep { "" } else { lead });
    }

    fn push(&mut self, text: &str, look: Look) {
        if !self.is_in_line && self.table.is_none() {
            self.line = self.new_line();
            self.is_in_line = true;
        }
        self.line.push(text, look);
    }

    fn lead(&self) -> String {
        format!("{}{}", self.outer_lead, self.leads.concat())
    }

    fn new_line(&mut self) -> Line {
        let lead = self.lead();
        let mut line = Line::default().led_by(&lead, Look::of(Role::Frame));
        if let Some(bullet) = self.bullet.take() {
            let outer = self.leads.len().saturating_sub(1);
            let before = self.leads.get(..outer).unwrap_or_default().concat();
            line.first_lead = format!("{}{before}{bullet}", self.outer_lead);
            // Further rows stand below the text of the item.
            let indent = super::super::wrap::columns(&bullet);
            line.rest_lead = format!("{}{before}{:indent$}", self.outer_lead, "");
        }
        line
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_in_line) {
            let mut line = std::mem::take(&mut self.line);
            line.overflow = Overflow::Words;
            self.sheet.push(line);
        }
    }

    fn start_block(&mut self) {
        self.end_line();
        if std::mem::take(&mut self.needs_gap) {
            let lead = self.lead();
            self.sheet
                .push(Line::default().led_by(lead.trim_end(), Look::of(Role::Frame)));
        }
    }

    fn code_lines(&mut self, text: &str) {
        let base = self.base;
        for code in text.lines() {
            let mut line = self.new_line().overflowing(Overflow::Anywhere);
            line.first_lead.push_str(super::stream::CODE_LEAD);
            line.rest_lead.push_str(super::stream::CODE_LEAD);
            match &mut self.code {
                Some(Some(highlighter)) => highlighter.push(code, base, &mut line),
                _ => line.push(code, base),
            }
            self.sheet.push(line);
        }
    }
}
