//! A tree as a page of HTML that needs no other file: a drawing for small trees, nested
//! lists that open and close for larger ones.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Node, Tree, depths};

/// Maximum number of places in a row of the drawing.
const MAX_PLACES: usize = 60;

/// Maximum number of characters of a move in the drawing.
const MOST_LETTERS: usize = 14;

/// Width of a place and height of a row, in pixels.
const PLACE: f64 = 96.0;
const ROW: f64 = 120.0;

const STYLE: &str = "\
body{font:16px/1.4 system-ui,sans-serif;margin:2rem;color:#1b1f24;background:#fff}
svg{max-width:none;font-size:13px}
.line{stroke:#8a93a0;fill:none}.out{stroke-dasharray:4 4}
.mine{fill:#d7e6ff;stroke:#2f5fb3}.theirs{fill:#ffe3d1;stroke:#b3562f}
.leaf{fill:#f3f4f6;stroke:#8a93a0}.never{fill:#fff;stroke:#8a93a0;stroke-dasharray:4 4}
.move{paint-order:stroke;stroke:#fff;stroke-width:4px}
.move,.window{fill:#5a6470;font-size:12px}.value{font-weight:600}
ul{list-style:none;border-left:1px solid #d0d5db;margin:0;padding-left:1.2rem}
.quiet{color:#5a6470}
@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14171b}
.mine{fill:#1d355e}.theirs{fill:#57301c}.leaf{fill:#262b31}.never{fill:#14171b}
text{fill:#e6e9ed}.move{stroke:#14171b}.move,.window{fill:#a5aeb9}ul{border-color:#39414a}.quiet{color:#a5aeb9}}";

/// Writes the page; `title` says which decision it is.
pub(in crate::commands) fn write(out: &mut impl Write, tree: &Tree, title: &str) -> io::Result<()> {
    let title = escaped(title);
    writeln!(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width\">")?;
    writeln!(out, "<title>{title}</title>\n<style>\n{STYLE}\n</style></head><body>")?;
    writeln!(out, "<h1>{title}</h1>")?;
    let below = match tree.has_visits() {
        true if tree.has_information_sets() => " With them: how often each node was visited.",
        true if tree.has_bounds() => {
            " Two numbers are a lower and an upper bound. With them: how often each state was \
             visited."
        }
        true => " With them: how often the moves that led here were tried.",
        false if tree.has_windows() => " Brackets show alpha and beta when a state was entered.",
        false => "",
    };
    let places = places(tree);
    let has_left_out = tree.nodes.iter().any(|node| node.n_left_out > 0);
    let colours = match places {
        Some(_) => " Blue: this role chooses. Orange: the others choose.",
        None => "",
    };
    let dashed = if places.is_some() && has_left_out { " Dashed: never looked at." } else { "" };
    let role = escaped(&tree.role);
    writeln!(out, "<p>Values are rewards of {role}.{below}{colours}{dashed}</p>")?;
    match places {
        Some(places) => draw(out, tree, &places)?,
        None => list(out, tree)?,
    }
    if let Some(words) = tree.unrecorded_words() {
        writeln!(out, "<p>... and {words}</p>")?;
    }
    writeln!(out, "</body></html>")
}

/// Where each state stands in its row, and the place for what is never looked at below
/// it; `None` if the tree is too wide for a drawing.
fn places(tree: &Tree) -> Option<Vec<(f64, Option<f64>)>> {
    let mut places = vec![(0.0, None); tree.nodes.len()];
    let mut next = 0.0;
    // Leaves from left to right: nodes are in the order of a walk through the tree, and a
    // state stands over the middle of what is below it.
    let mut ends: Vec<(f64, f64)> = vec![(f64::INFINITY, f64::NEG_INFINITY); tree.nodes.len()];
    place(tree, 0, &mut next, &mut places, &mut ends);
    (next <= MAX_PLACES as f64).then_some(places)
}

fn place(
    tree: &Tree,
    at: usize,
    next: &mut f64,
    places: &mut [(f64, Option<f64>)],
    ends: &mut [(f64, f64)],
) {
    if *next > MAX_PLACES as f64 {
        return;
    }
    let node = &tree.nodes[at];
    for &child in &node.children {
        place(tree, child, next, places, ends);
        let x = places[child].0;
        ends[at] = (ends[at].0.min(x), ends[at].1.max(x));
    }
    if node.n_left_out > 0 {
        places[at].1 = Some(*next);
        ends[at] = (ends[at].0.min(*next), ends[at].1.max(*next));
        *next += 1.0;
    }
    if node.children.is_empty() && node.n_left_out == 0 {
        places[at].0 = *next;
        *next += 1.0;
    } else {
        places[at].0 = f64::midpoint(ends[at].0, ends[at].1);
    }
}

fn draw(out: &mut impl Write, tree: &Tree, places: &[(f64, Option<f64>)]) -> io::Result<()> {
    let (depths, has_windows) = (depths(tree), tree.has_windows());
    let n_rows = depths
        .iter()
        .zip(&tree.nodes)
        .map(|(depth, node)| depth + 1 + usize::from(node.n_left_out > 0));
    let height = n_rows.max().unwrap_or(1) as f64 * ROW;
    let widest = places.iter().flat_map(|&(x, cut)| [Some(x), cut]).flatten().fold(0.0, f64::max);
    let width = (widest + 1.0) * PLACE;
    let at = |x: f64, depth: usize| ((x + 0.5) * PLACE, (depth as f64 + 0.4) * ROW);
    writeln!(
        out,
        "<div style=\"overflow-x:auto\"><svg width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"the tree that was searched\" text-anchor=\"middle\">"
    )?;
    let (mut lines, mut boxes) = (String::new(), String::new());
    for (index, node) in tree.nodes.iter().enumerate() {
        let (x, y) = at(places[index].0, depths[index]);
        if let Some(parent) = node.parent {
            let (px, py) = at(places[parent].0, depths[parent]);
            let _ = writeln!(
                lines,
                "<path class=\"line\" d=\"M{px} {} L{x} {}\"/>",
                py + 24.0,
                y - 24.0
            );
            let _ = writeln!(
                boxes,
                "<text class=\"move\" x=\"{x}\" y=\"{}\">{}</text>",
                y - 31.0,
                escaped(&fitting(&node.action))
            );
        }
        let _ = write!(boxes, "{}", state(node, has_windows, x, y));
        if let Some(cut) = places[index].1 {
            let (cx, cy) = at(cut, depths[index] + 1);
            let _ = writeln!(
                lines,
                "<path class=\"line out\" d=\"M{x} {} L{cx} {}\"/>",
                y + 24.0,
                cy - 24.0
            );
            let words = escaped(&node.left_out_words().unwrap_or_default());
            let _ = writeln!(
                boxes,
                "<g><title>never looked at: {words}</title><rect class=\"never\" x=\"{}\" \
                 y=\"{}\" width=\"84\" height=\"48\" rx=\"6\"/><text class=\"move\" x=\"{cx}\" \
                 y=\"{}\">{}</text></g>",
                cx - 42.0,
                cy - 24.0,
                cy + 4.0,
                escaped(&cut_words(node))
            );
        }
    }
    write!(out, "{lines}{boxes}")?;
    writeln!(out, "</svg></div>")
}

/// A move as it fits above a box, beside others; of several steps the end, in which those beside
/// it differ.
fn fitting(action: &str) -> String {
    let n_over = action.chars().count().saturating_sub(MOST_LETTERS);
    if n_over == 0 {
        action.to_owned()
    } else if action.contains("; ") {
        let end: String = action.chars().skip(n_over).collect();
        format!("\u{2026}{end}")
    } else {
        let start: String = action.chars().take(MOST_LETTERS).collect();
        format!("{start}\u{2026}")
    }
}

/// What fits into a box of moves that were never looked at.
fn cut_words(node: &Node) -> String {
    let words = node.left_out_words().unwrap_or_default();
    if words.chars().count() <= 14 { words } else { format!("{} moves", node.n_left_out) }
}

fn state(node: &Node, has_windows: bool, x: f64, y: f64) -> String {
    let class = match (node.children.is_empty(), node.is_mine) {
        (true, _) => "leaf",
        (false, true) => "mine",
        (false, false) => "theirs",
    };
    let value = node.value_words().replace("at most ", "\u{2264} ");
    let value = value.replace("at least ", "\u{2265} ").replace(" to ", "\u{2013}");
    let how = node.how().map_or_else(String::new, |how| format!(", {}", escaped(&how)));
    let below = node.below_value(has_windows);
    let value_y = if below.is_some() { y - 3.0 } else { y + 5.0 };
    let below = below.map_or_else(String::new, |words| {
        format!("<text class=\"window\" x=\"{x}\" y=\"{}\">{words}</text>", y + 15.0)
    });
    format!(
        "<g><title>{}{}{how}</title><rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"84\" \
         height=\"48\" rx=\"6\"/><text class=\"value\" x=\"{x}\" y=\"{value_y}\">{value}</text>\
         {below}</g>\n",
        escaped(&node.action),
        if node.action.is_empty() { "root" } else { "" },
        x - 42.0,
        y - 24.0,
    )
}

/// Nested lists; the first levels are open.
fn list(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    const OPEN: usize = 2;
    let (depths, has_windows) = (depths(tree), tree.has_windows());
    let mut depth = 0;
    write!(out, "<ul>")?;
    for (at, node) in tree.nodes.iter().enumerate() {
        while depth > depths[at] {
            write!(out, "</ul></details></li>")?;
            depth -= 1;
        }
        let action = if at == 0 { "root" } else { &node.action };
        let mut words = format!(
            "{}: <b>{}</b> <span class=\"quiet\">{}",
            escaped(action),
            node.value_words(),
            node.below_value(has_windows).unwrap_or_default()
        );
        if let Some(how) = node.how() {
            let _ = write!(words, " {}", escaped(&how));
        }
        if let Some(left_out) = node.left_out_words() {
            let _ = write!(words, " never looked at: {}", escaped(&left_out));
        }
        words += "</span>";
        if node.children.is_empty() {
            writeln!(out, "<li>{words}</li>")?;
        } else {
            let open = if depths[at] < OPEN { " open" } else { "" };
            writeln!(out, "<li><details{open}><summary>{words}</summary><ul>")?;
            depth += 1;
        }
    }
    for _ in 0..depth {
        write!(out, "</ul></details></li>")?;
    }
    writeln!(out, "</ul>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
