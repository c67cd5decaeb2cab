//! Figures: SVG written by hand, in the colours of the page.
//!
//! A plotting library would write colours and fonts into the figure; here they
//! are classes, so that light, dark and printed pages share one figure. Every
//! figure has a title and a description, and marks say their numbers when
//! pointed at.

use std::fmt::Write as _;

use super::escape::{Escaped, shortened};
use crate::counted::counted;
use crate::evaluation::MoveBudget;

/// Width of all figures, in units of the view box; text is 12 of them high.
pub(super) const WIDTH: f64 = 560.0;
/// Colours of series; others repeat them with another mark.
pub(super) const N_COLOURS: usize = 8;
/// Least and greatest room for names beside a figure.
const MARGINS: [f64; 2] = [70.0, 236.0];
/// Room for a character of a name, and between the name and the figure.
const CHARACTER: f64 = 7.2;
const GAP: f64 = 8.0;

/// Where a figure begins that has these names at its left.
pub(super) fn left_of<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0) as f64;
    (longest * CHARACTER + 2.0 * GAP).clamp(MARGINS[0], MARGINS[1])
}

/// A figure on its way.
pub(super) struct Figure {
    title: String,
    description: String,
    height: f64,
    body: String,
}

/// Where text is relative to its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Figure {
    pub(super) fn new(title: &str, description: &str, height: f64) -> Self {
        Self { title: title.into(), description: description.into(), height, body: String::new() }
    }

    pub(super) fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(unit);
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    /// Vertical lines at the ticks of a scale, with their values below.
    pub(super) fn ticks(
        &mut self,
        scale: Scale,
        [top, bottom]: [f64; 2],
        shown: fn(f64) -> String,
    ) {
        for value in scale.ticks() {
            let x = scale.at(value);
            self.line([x, top], [x, bottom], "grid");
            self.text([x, bottom + 15.0], Anchor::Middle, "tick", &shown(value));
        }
    }

    /// A rectangle that says `tip` when pointed at.
    pub(super) fn rectangle(
        &mut self,
        [x, y]: [f64; 2],
        [width, height]: [f64; 2],
        class: &str,
        opacity: f64,
        tip: &str,
    ) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(unit);
        let opacity =
            if opacity < 1.0 { format!(" fill-opacity=\"{opacity:.2}\"") } else { String::new() };
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"\
             {opacity}><title>{}</title></rect>",
            Escaped(tip)
        );
    }

    /// The mark of a series: its colour, and its shape once colours repeat.
    pub(super) fn mark(&mut self, [x, y]: [f64; 2], series: usize, tip: &str) {
        let colour = format!("s{} fill", series % N_COLOURS);
        let (tip, size) = (Escaped(tip), 4.5);
        let [left, right, top, bottom] = [x - size, x + size, y - size, y + size].map(unit);
        let [x, y] = [x, y].map(unit);
        let _ = match series / N_COLOURS % 3 {
            0 => writeln!(
                self.body,
                "<circle class=\"{colour}\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\"><title>{tip}</title>\
                 </circle>"
            ),
            1 => writeln!(
                self.body,
                "<path class=\"{colour}\" d=\"M{left} {bottom}H{right}V{top}H{left}Z\"><title>\
                 {tip}</title></path>"
            ),
            _ => writeln!(
                self.body,
                "<path class=\"{colour}\" d=\"M{x} {top}L{right} {bottom}H{left}Z\"><title>{tip}\
                 </title></path>"
            ),
        };
    }

    /// A line through points.
    pub(super) fn path(&mut self, points: &[[f64; 2]], class: &str) {
        let points: Vec<String> =
            points.iter().map(|&[x, y]| format!("{},{}", unit(x), unit(y))).collect();
        let points = points.join(" ");
        let _ = writeln!(self.body, "<polyline class=\"{class}\" points=\"{points}\"/>");
    }

    pub(super) fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let [x, y] = [x, y].map(unit);
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            Escaped(text)
        );
    }

    /// The name of a row of a figure that begins at `left`.
    pub(super) fn row_name(&mut self, left: f64, y: f64, name: &str) {
        let n_chars = ((left - GAP) / CHARACTER) as usize;
        self.name_within([left - GAP, y], Anchor::End, name, n_chars);
    }

    /// A name that may be too long: cut, and whole when pointed at.
    pub(super) fn name_within(
        &mut self,
        [x, y]: [f64; 2],
        anchor: Anchor,
        name: &str,
        n_chars: usize,
    ) {
        let _ = write!(self.body, "<g><title>{}</title>", Escaped(name));
        self.text([x, y], anchor, "label", &shortened(name, n_chars));
        self.body.truncate(self.body.trim_end().len());
        self.body += "</g>\n";
    }

    /// The name of a narrow column, going up to the right.
    pub(super) fn slanted(&mut self, [x, y]: [f64; 2], shown: &str, name: &str) {
        let [x, y] = [x, y].map(unit);
        let (shown, name) = (Escaped(shown), Escaped(name));
        let _ = writeln!(
            self.body,
            "<text class=\"label\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-45 {x} {y})\">\
             <title>{name}</title>{shown}</text>"
        );
    }

    /// The figure, with its title as caption.
    pub(super) fn html(&self) -> String {
        let (title, description) = (Escaped(&self.title), Escaped(&self.description));
        let height = unit(self.height);
        format!(
            "<figure class=\"plot\"><figcaption>{title}</figcaption><div class=\"scroll\">\
             <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             xmlns=\"http://www.w3.org/2000/svg\" aria-label=\"{title}. {description}\">\
             <title>{title}</title><desc>{description}</desc>\n{body}</svg></div>\
             <p class=\"note\">{description}</p></figure>\n",
            body = self.body,
        )
    }
}

/// A length with at most two decimals.
///
/// # Panics
/// If it is not finite.
fn unit(value: f64) -> String {
    assert!(value.is_finite(), "a figure has finite lengths");
    let text = format!("{:.2}", value + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A straight or logarithmic scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: [f64; 2],
    to: [f64; 2],
    is_log: bool,
}

impl Scale {
    /// Maps `from` to `to`; what has no width is widened.
    pub(super) fn linear(from: [f64; 2], to: [f64; 2]) -> Self {
        let [low, high] = from;
        let from = if high - low < 1e-9 { [low - 1.0, high + 1.0] } else { from };
        Self { from, to, is_log: false }
    }

    /// The same for logarithms of positive values.
    pub(super) fn log([low, high]: [f64; 2], to: [f64; 2]) -> Self {
        let (low, high) = (low.max(1e-9), high.max(1e-9));
        let from = if high / low < 1.01 { [low / 2.0, high * 2.0] } else { [low, high] };
        Self { from: from.map(f64::log10), to, is_log: true }
    }

    /// Where `value` is.
    pub(super) fn at(self, value: f64) -> f64 {
        let value = if self.is_log { value.max(1e-9).log10() } else { value };
        let share = (value - self.from[0]) / (self.from[1] - self.from[0]);
        self.to[0] + share.clamp(-0.05, 1.05) * (self.to[1] - self.to[0])
    }

    /// Round values on the scale, some five.
    pub(super) fn ticks(self) -> Vec<f64> {
        let [low, high] = self.from;
        if !self.is_log {
            let step = step((high - low) / 5.0);
            let first = (low / step - 1e-9).ceil() as i64;
            let last = (high / step + 1e-9).floor() as i64;
            return (first..=last).map(|n| n as f64 * step).collect();
        }
        let decades = (low.floor() as i32)..=(high.ceil() as i32);
        let within: &[f64] = if high - low > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let every = (((high - low) / 6.0).ceil() as i32).max(1);
        let values = decades.filter(|decade| high - low <= 2.5 || decade % every == 0);
        let values = values.flat_map(|decade| within.iter().map(move |n| n * 10f64.powi(decade)));
        values.filter(|n| (low - 1e-9..=high + 1e-9).contains(&n.log10())).collect()
    }
}

/// The round number that is next to `rough` from above.
fn step(rough: f64) -> f64 {
    let decade = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade);
    steps.into_iter().find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

/// A number of a scale, short.
pub(super) fn tick(value: f64) -> String {
    let text = format!("{:.3}", value + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a player had for a move, short.
pub(super) fn budget(budget: MoveBudget) -> String {
    match budget {
        MoveBudget::Milliseconds(ms) => time(ms as f64),
        MoveBudget::Nodes(nodes) => counted(nodes, "node", "nodes"),
    }
}

/// A time, short.
pub(super) fn time(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{} µs", tick((ms * 1e3 * 10.0).round() / 10.0)),
        ms if ms < 1e3 => format!("{} ms", tick((ms * 10.0).round() / 10.0)),
        ms if ms < 6e4 => format!("{} s", tick((ms / 1e3 * 100.0).round() / 100.0)),
        ms => format!("{} min", tick((ms / 6e4 * 10.0).round() / 10.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let ticks = |scale: Scale| scale.ticks().into_iter().map(tick).collect::<Vec<_>>();
        let unit = [0.0, 1.0];
        assert_eq!(ticks(Scale::linear([0.0, 100.0], unit)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(ticks(Scale::linear([-3.0, 7.0], unit)), ["-2", "0", "2", "4", "6"]);
        assert_eq!(ticks(Scale::log([40.0, 6000.0], unit)).len(), 7);
        assert_eq!(ticks(Scale::log([0.01, 1e5], unit)).len(), 4);
        for scale in [Scale::linear([5.0, 5.0], unit), Scale::log([7.0, 7.0], unit)] {
            assert!(!scale.ticks().is_empty() && scale.at(5.0).is_finite());
        }
    }

    #[test]
    fn names_are_text() {
        let mut figure = Figure::new("<t>", "d", 10.0);
        figure.row_name(200.0, 0.0, "<script>alert(1)</script>");
        figure.mark([0.0, 0.0], 9, "a<b");
        assert!(!figure.html().contains("<script") && figure.html().contains("a&lt;b"));
    }
}
