//! A tree as a graph for Graphviz.

use std::io::{self, Write};

use super::{Node, Tree};

/// Writes the tree in DOT: states as boxes (triangles would not hold their text), moves
/// that were never looked at dashed.
pub(in crate::commands) fn write(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    writeln!(out, "digraph search {{")?;
    writeln!(out, "  node [fontname=\"sans-serif\", shape=box, style=rounded];")?;
    let has_windows = tree.has_windows();
    for (at, node) in tree.nodes.iter().enumerate() {
        let shape = if node.children.is_empty() { ", style=solid" } else { "" };
        writeln!(out, "  n{at} [label=\"{}\"{shape}];", label(node, has_windows))?;
        if let Some(parent) = node.parent {
            writeln!(out, "  n{parent} -> n{at} [label=\"{}\"];", quoted(&node.action))?;
        }
        if let Some(words) = node.left_out_words() {
            writeln!(out, "  cut{at} [label=\"{}\", style=dashed, color=gray];", quoted(&words))?;
            writeln!(out, "  n{at} -> cut{at} [style=dashed, color=gray];")?;
        }
    }
    writeln!(out, "}}")
}

fn label(node: &Node, has_windows: bool) -> String {
    let below = [node.below_value(has_windows), node.how().map(|how| quoted(&how))];
    let below: String = below.into_iter().flatten().map(|words| format!("\\n{words}")).collect();
    format!("{}{below}", node.value_words())
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
