//! `gamemaster game info`: what kind of game it is, and how large.

mod ending;
mod grounding;

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use games::{Game, Statistic, StatisticValue, library};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use self::ending::End;
use self::grounding::{Grounding, Reasoner};
use super::environment::Environment;
use super::survey::{Limits, ObservedKind, Spread, Survey, survey};
use super::view::{ByRole, role_names};
use super::walk::Walker;
use super::{GameArgument, reasoning};
use crate::commands::number::whole_from;
use crate::commands::time_limits::clock;
use crate::diagnostics::Counts;
use crate::failure::{CommandResult, Failure};
use crate::game_source::LoadedGame;
use crate::output::json_or_text;
use results::counted::counted;
use results::report::wrapped;

const EXAMPLES: &str = "\
Examples:
  gamemaster game info connect_four
  gamemaster game info my_game.kif --playouts 1000 --json
  gamemaster game info monty_hall --dot | dot -Tsvg -o monty_hall.svg

Simultaneous moves, lengths, branching and goals are measured in random
playouts; the same random seed gives the same playouts. The size of the tree is
Knuth's estimate from these playouts: it is unbiased, but may be far off after
few playouts. docs/reasoner.md explains the lines `reasoner` and `grounding`,
docs/environments.md the lines `environment` and `suited`.

The line `end` says whether play must end, and why. Play must end if the rules
have a step counter that does not depend on the moves, if all states were
computed (up to 200,000, or 20,000 in games that `solve` refuses) and none can
repeat, if play provably keeps making changes that are never undone, or if each
step provably lowers a weighted sum of facts. If a state can repeat, play need
not end. In all other cases the line says `not known`.";

/// Arguments of `gamemaster game info`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Measure the game in N random playouts
    #[arg(long, value_name = "N", default_value_t = Limits::USUAL.playouts,
          value_parser = whole_from::<u64>(0))]
    playouts: u64,
    /// Stop each playout after N steps
    #[arg(long, value_name = "N", default_value_t = Limits::USUAL.steps,
          value_parser = whole_from::<usize>(0))]
    step_limit: usize,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = Limits::USUAL.seed,
          value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Stop measuring after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = clock)]
    time: Duration,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the propositional network as a graph for Graphviz instead
    #[arg(long, conflicts_with_all = ["json", "playouts", "step_limit", "seed", "time"])]
    dot: bool,
}

#[derive(Serialize)]
struct Report {
    name: String,
    title: Option<&'static str>,
    roles: Vec<String>,
    kind: ObservedKind,
    /// The task environment, and players that suit it.
    environment: Environment,
    /// Whether play must end.
    end: End,
    reasoner: &'static str,
    /// The reasoner's own figures after the survey.
    reasoner_statistics: Statistics,
    /// How the rules were ground, or why they were not.
    grounding: Grounding,
    sizes: Sizes,
    /// Legal moves in the initial state; none if it is terminal.
    legal_at_start: Option<ByRole<usize>>,
    findings: Counts,
    survey: Survey,
}

/// Sizes of the rules.
#[derive(Serialize)]
struct Sizes {
    bytes: usize,
    /// Top-level forms of the rulesheet.
    forms: usize,
    /// Rules with a body.
    rules: usize,
    /// Predicates that some fact or rule defines, by name and arity.
    relations: usize,
    /// Rules without a body.
    static_facts: usize,
    /// Facts of the initial state.
    initial_facts: usize,
}

/// Statistics of a reasoner, in its order.
struct Statistics(Vec<Statistic>);

impl Serialize for Statistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for Statistic { name, value } in &self.0 {
            match value {
                StatisticValue::Count(number) => map.serialize_entry(name, number)?,
                StatisticValue::Bytes(number) => {
                    map.serialize_entry(&format!("{name}_bytes"), number)?;
                }
                StatisticValue::Names(names) => map.serialize_entry(name, names)?,
            }
        }
        map.end()
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.iter().filter_map(|Statistic { name, value }| {
            let label = match *name {
                "facts" => "possible facts".to_owned(),
                "moves" => "possible moves".to_owned(),
                name => name.replace('_', " "),
            };
            match value {
                StatisticValue::Count(number) => {
                    // `1 update per step`, `1 goal conjunction`
                    let one = label.replacen("s per", " per", 1);
                    Some(counted(number, one.trim_end_matches('s'), &label))
                }
                StatisticValue::Bytes(number) => {
                    Some(format!("{} KiB of {label}", number.div_ceil(1024)))
                }
                StatisticValue::Names(names) if names.is_empty() => None,
                StatisticValue::Names(names) => Some(format!("{label}: {}", names.join(" "))),
            }
        });
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

/// Carries out `gamemaster game info`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let LoadedGame { game, diagnostics } = arguments.game.load()?;
    if arguments.dot {
        return grounding::draw(&game);
    }
    let Reasoner { machine, grounding, network } = grounding::reasoner(&game)?;
    let reasoner = machine.reasoner();
    let mut walker = Walker::new(machine);
    let initial = walker.machine.initial_state().map_err(reasoning)?;
    let initial_facts = walker.machine.facts(&initial).len();
    let legal_at_start = legal_at_start(&mut walker, &initial)?;
    let limits = Limits {
        playouts: arguments.playouts,
        steps: arguments.step_limit,
        time: Some(arguments.time),
        seed: arguments.seed,
    };
    let survey = survey(&mut walker, &limits).map_err(reasoning)?;
    let kind = ObservedKind::of(&game, &survey);
    let end = End::of(&game, network.as_deref())?;
    let report = Report {
        environment: Environment::of(&kind, &survey, end.n_states()),
        end,
        name: game.name().to_owned(),
        title: library::find(&arguments.game.file).map(library::Shipped::title),
        roles: role_names(&game),
        kind,
        reasoner,
        reasoner_statistics: Statistics(walker.machine.statistics()),
        grounding,
        sizes: sizes(&game, diagnostics.text(), initial_facts),
        legal_at_start,
        findings: diagnostics.counts(),
        survey,
    };
    json_or_text(arguments.json, &report, print)
}

fn legal_at_start(
    walker: &mut Walker,
    initial: &games::State,
) -> Result<Option<ByRole<usize>>, Failure> {
    if walker.machine.is_terminal(initial).map_err(reasoning)? {
        return Ok(None);
    }
    walker.find_moves(initial).map_err(reasoning)?;
    let counts = walker.moves.iter().map(Vec::len).collect();
    Ok(Some(ByRole::new(walker.machine.game(), counts)))
}

fn sizes(game: &Game, text: &str, initial_facts: usize) -> Sizes {
    let heads = game.rules().iter().map(|rule| (rule.head.name, rule.head.arguments.len()));
    let static_facts = game.rules().iter().filter(|rule| rule.body.is_empty()).count();
    Sizes {
        bytes: text.len(),
        forms: game.forms().len(),
        rules: game.rules().len() - static_facts,
        relations: heads.collect::<BTreeSet<_>>().len(),
        static_facts,
        initial_facts,
    }
}

fn print(stdout: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { name, title, roles, kind, reasoner, reasoner_statistics, .. } = report;
    let Report { sizes, legal_at_start, findings, survey, .. } = report;
    match title {
        Some(title) => writeln!(stdout, "{name}: {title}")?,
        None => writeln!(stdout, "{name}")?,
    }
    let indent = " ".repeat(17);
    let mut row = |label: &str, value: String| writeln!(stdout, "  {label:14} {value}");
    row("roles", roles.join(" "))?;
    row("kind", kind.to_string())?;
    row("environment", report.environment.to_string())?;
    for (index, reason) in report.environment.reasons().enumerate() {
        row(if index == 0 { "suited" } else { "" }, reason)?;
    }
    row("end", wrapped(&report.end.to_string(), &indent, &indent, 80).trim().to_owned())?;
    let Sizes { bytes, forms, rules, relations, static_facts, initial_facts } = sizes;
    let (bytes, forms) = (counted(bytes, "byte", "bytes"), counted(forms, "form", "forms"));
    row("rulesheet", format!("{bytes}, {forms}, {findings}"))?;
    let (rules, facts) =
        (counted(rules, "rule", "rules"), counted(static_facts, "constant fact", "constant facts"));
    let relations = counted(relations, "relation", "relations");
    row("rules", format!("{rules}, {facts}, {relations}"))?;
    let reasoner = format!("{reasoner}: {reasoner_statistics}");
    row("reasoner", wrapped(&reasoner, &indent, &indent, 80).trim().to_owned())?;
    for (index, line) in report.grounding.lines().into_iter().enumerate() {
        row(if index == 0 { "grounding" } else { "" }, line)?;
    }
    let initial_facts = counted(initial_facts, "fact", "facts");
    let legal_moves = legal_moves(legal_at_start.as_ref());
    row("initial state", format!("{initial_facts}, {legal_moves}"))?;
    row("playouts", playouts(survey))?;
    let or_unknown =
        |spread: Option<Spread>| spread.map_or("unknown".to_owned(), |s| s.to_string());
    row("length", or_unknown(survey.length))?;
    let branching = or_unknown(survey.branching);
    row("branching", if survey.simultaneous { branching + " joint moves" } else { branching })?;
    row("facts/state", or_unknown(survey.facts))?;
    let tree = survey.tree_log10.map_or("unknown".to_owned(), nodes);
    row("tree", tree)?;
    for (index, (role, spread)) in survey.goals.iter().enumerate() {
        let label = if index == 0 { "goals" } else { "" };
        row(label, format!("{role}: {}", or_unknown(*spread)))?;
    }
    Ok(())
}

fn legal_moves(at_start: Option<&ByRole<usize>>) -> String {
    match at_start {
        None => "terminal".to_owned(),
        Some(counts) => {
            let counts = counts.iter().map(|(role, count)| format!("{role} {count}"));
            format!("legal moves: {}", counts.collect::<Vec<_>>().join(", "))
        }
    }
}

fn playouts(survey: &Survey) -> String {
    let mut words = survey.playouts.to_string();
    let notes = [
        (survey.cut, "cut short"),
        (survey.stuck, "stuck without a legal move"),
        (survey.without_goal, "ended without a goal for each role"),
    ];
    for (count, note) in notes.into_iter().filter(|(count, _)| *count > 0) {
        words += &format!(", {count} {note}");
    }
    words
}

/// `about 5478 nodes`, or `about 10^40.1 nodes`.
fn nodes(log10: f64) -> String {
    if log10 < 6.0 {
        format!("about {:.0} nodes", 10f64.powf(log10))
    } else {
        format!("about 10^{log10:.1} nodes")
    }
}
