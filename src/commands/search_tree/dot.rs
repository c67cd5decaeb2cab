//! A tree as a graph for Graphviz.

use std::io::{self, Write};

use super::{Node, Tree};

/// Writes the tree in DOT: states as boxes (triangles would not hold their text), moves
/// that were never looked at dashed.
pub(in crate::commands) fn write(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    writeln!(out, "digraph search {{")?;
    writeln!(out, "  node [fontname=\"sans-serif\", shape=box, style=rounded];")?;
    for (at, node) in tree.nodes.iter().enumerate() {
        let shape = if node.children.is_empty() { ", style=solid" } else { "" };
        writeln!(out, "  n{at} [label=\"{}\"{shape}];", label(node))?;
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

fn label(node: &Node) -> String {
    let how = node.how().map_or_else(String::new, |how| format!("\\n{how}"));
    format!("{}\\n{}{how}", node.value_words(), node.below_value())
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
