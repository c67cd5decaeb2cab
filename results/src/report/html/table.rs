//! Tables that can be sorted and saved as CSV, each column with what it was
//! computed from.

use std::fmt::Write as _;

use super::super::words;
use super::escape::Escaped;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Name,
    Number,
    /// Two numbers; sorted by the first, two columns in CSV.
    Interval,
}

impl CellKind {
    fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Number => "number",
            Self::Interval => "interval",
        }
    }
}

/// A heading, and what the column was computed from.
#[derive(Clone)]
pub(super) struct Column {
    heading: String,
    meaning: String,
    kind: CellKind,
}

pub(super) fn name(heading: &str, meaning: &str) -> Column {
    Column { heading: heading.into(), meaning: meaning.into(), kind: CellKind::Name }
}

pub(super) fn number(heading: &str, meaning: &str) -> Column {
    Column { heading: heading.into(), meaning: meaning.into(), kind: CellKind::Number }
}

pub(super) fn interval(heading: &str, meaning: &str) -> Column {
    Column { heading: heading.into(), meaning: meaning.into(), kind: CellKind::Interval }
}

/// What stands in a row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    shown: String,
    /// What is sorted by and saved: one number, or the two of an interval.
    values: Vec<f64>,
    tip: Option<String>,
    link: Option<String>,
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { shown: text.into(), values: vec![], tip: None, link: None }
    }

    pub(super) fn count(n: u64) -> Self {
        Self { values: vec![n as f64], ..Self::text(n.to_string()) }
    }

    /// A number with this many decimals; a dash if there is none, or it is not finite.
    pub(super) fn decimal(value: Option<f64>, decimals: usize) -> Self {
        match value.filter(|value| value.is_finite()) {
            None => Self::text("–"),
            Some(value) => {
                let scale = 10f64.powi(decimals as i32);
                let value_shown = (value * scale).round() / scale + 0.0;
                Self { values: vec![value], ..Self::text(format!("{value_shown:.decimals$}")) }
            }
        }
    }

    pub(super) fn points(value: Option<f64>) -> Self {
        Self::decimal(value, 1)
    }

    /// Milliseconds, with as many decimals as they are worth.
    pub(super) fn ms(value: Option<f64>) -> Self {
        let decimals = match value {
            Some(value) if value < 1.0 => 3,
            Some(value) if value < 10.0 => 2,
            _ => 1,
        };
        Self::decimal(value, decimals)
    }

    /// A number that is shown in words.
    pub(super) fn amount(value: f64, shown: String) -> Self {
        Self { values: vec![value], ..Self::text(shown) }
    }

    /// A share of 1, as percent.
    pub(super) fn percent(share: Option<f64>) -> Self {
        let Some(share) = share.filter(|share| share.is_finite()) else { return Self::text("–") };
        Self { values: vec![share], ..Self::text(percent(share)) }
    }

    pub(super) fn interval(interval: Option<[f64; 2]>) -> Self {
        match interval.filter(|[low, high]| low.is_finite() && high.is_finite()) {
            None => Self::text("–"),
            some => Self {
                values: some.into_iter().flatten().collect(),
                ..Self::text(words::interval(some))
            },
        }
    }

    /// Marks an interval that treats some games and budgets as exact.
    pub(super) fn holding(mut self, n_exact: u64) -> Self {
        if n_exact > 0 && !self.values.is_empty() {
            self.shown.push('*');
        }
        self
    }

    /// What this number was computed from.
    pub(super) fn from(mut self, tip: impl Into<String>) -> Self {
        self.tip = Some(tip.into());
        self
    }

    /// Leads to another place of the page.
    pub(super) fn to(mut self, anchor: String) -> Self {
        self.link = Some(anchor);
        self
    }
}

/// A share as percent, without claiming certainty.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p <= 0.0 => "0 %".into(),
        p if p < 0.1 => "< 0.1 %".into(),
        p if p < 100.0 && p > 99.9 => "> 99.9 %".into(),
        p if (10.0..=90.0).contains(&p) => format!("{p:.0} %"),
        p if p >= 100.0 => "100 %".into(),
        p => format!("{p:.1} %"),
    }
}

/// A table on the page. Its id, which is also the name of its CSV file, consists
/// of letters and hyphens and is unique on the page.
pub(super) fn page_table(
    id: &str,
    caption: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> String {
    let caption = Escaped(caption);
    let mut html = format!(
        "<figure class=\"table\" id=\"{id}\"><div class=\"bar\"><figcaption>{caption}\
         </figcaption><button type=\"button\" class=\"csv\" data-table=\"{id}\">CSV</button>\
         </div><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\
         <table><thead><tr>",
    );
    for column in columns {
        let (kind, heading) = (column.kind.word(), Escaped(&column.heading));
        // A place is a number without a heading; its column needs no room.
        let place = if column.heading.is_empty() { " place" } else { "" };
        let meaning = Escaped(&column.meaning);
        let _ = write!(
            html,
            "<th scope=\"col\" class=\"{kind}{place}\" title=\"{meaning}\"><button type=\"button\">\
             {heading}</button></th>"
        );
    }
    html += "</tr></thead><tbody>\n";
    for row in rows {
        html += "<tr>";
        for (column, cell) in columns.iter().zip(&row) {
            write_cell(&mut html, column.kind, cell);
        }
        html += "</tr>\n";
    }
    html += "</tbody></table></div>";
    write_meanings(&mut html, columns);
    html + "</figure>\n"
}

/// What the columns mean, for those who cannot hover over them.
fn write_meanings(html: &mut String, columns: &[Column]) {
    html.push_str("<details class=\"how\"><summary>What the columns mean</summary><dl>");
    for column in columns.iter().filter(|column| !column.meaning.is_empty()) {
        let heading = if column.heading.is_empty() { "#" } else { &column.heading };
        let (heading, meaning) = (Escaped(heading), Escaped(&column.meaning));
        let _ = write!(html, "<dt>{heading}</dt><dd>{meaning}</dd>");
    }
    html.push_str("</dl></details>");
}

fn write_cell(html: &mut String, kind: CellKind, cell: &Cell) {
    let element = if kind == CellKind::Name { "th scope=\"row\"" } else { "td" };
    let _ = write!(html, "<{element} class=\"{}\"", kind.word());
    let values: Vec<String> = cell.values.iter().map(f64::to_string).collect();
    if !values.is_empty() {
        let _ = write!(html, " data-v=\"{}\"", values.join(";"));
    }
    if let Some(tip) = &cell.tip {
        let _ = write!(html, " title=\"{}\"", Escaped(tip));
    }
    let shown = Escaped(&cell.shown);
    let _ = match &cell.link {
        Some(anchor) => write!(html, "><a href=\"#{}\">{shown}</a>", Escaped(anchor)),
        None => write!(html, ">{shown}"),
    };
    html.push_str(if kind == CellKind::Name { "</th>" } else { "</td>" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_shown_that_is_none() {
        for value in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            let cells = [
                Cell::points(value),
                Cell::percent(value),
                Cell::interval(value.map(|value| [value, 1.0])),
            ];
            assert!(cells.iter().all(|cell| cell.shown == "–" && cell.values.is_empty()));
        }
        assert_eq!(Cell::points(Some(-0.04)).shown, "0.0");
    }

    #[test]
    fn shares_claim_no_certainty() {
        let shown = [0.0, 0.0004, 0.052, 0.5, 0.9996, 1.0].map(percent);
        assert_eq!(shown, ["0 %", "< 0.1 %", "5.2 %", "50 %", "> 99.9 %", "100 %"]);
    }
}
