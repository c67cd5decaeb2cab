//! Playing one match in view.

mod explained;
mod view;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use games::Cancel;
use results::record::{Ending, MatchRecord};

use self::explained::{Explained, Explanations};
use self::view::{Detail, Shown, View};
use super::number::whole_from;
use super::time_limits::{TimeLimits, clock};
use super::typed_players::typed_players;
use crate::exit_code;
use crate::experiment::{MatchOptions, SingleMatch};
use crate::failure::{CommandResult, Failure};
use crate::game_source::{GameSource, Reading};
use crate::human;
use crate::interrupt::on_interrupt;
use crate::manager::{Manager, ManagerSettings, MatchRules, PlayerConfig, PlayerStderr, TimeOdds};
use crate::output::{json_line, to_stdout};
use crate::people::is_person;
use crate::spec::Contestant;
use crate::supervisor::OWN_EXECUTABLE;

const EXAMPLES: &str = "\
Examples:
  gamemaster play tic_tac_toe alpha_beta random
  gamemaster play connect_four human mcts       you play first
  gamemaster play tic_tac_toe strong=alpha_beta weak=alpha_beta:depth=1
  gamemaster play breakthrough_6x6 alpha_beta fast=alpha_beta:clocks.play=100ms
  gamemaster play my_game.kif 'cmd:python3 my_player.py --port {port}' random
  gamemaster play connect_four http://127.0.0.1:9147 legal --json
  gamemaster play nim alpha_beta mcts --json --verbose

A player is one of
  KIND                      a built-in player (see `gamemaster players`)
  KIND:option=value,...     a built-in player with options
  http://HOST:PORT          a running player
  'cmd:COMMAND'             a program to launch, with {port} in its arguments
NAME= before any of them gives the player this name. The role `random` (chance)
takes no player.

Exit codes:
  0    the match is complete
  1    internal error, or the match was aborted
  2    invalid arguments
  3    an invalid rulesheet, an error in the rules during the match, or a player
       that does not reply at the beginning
  130  interrupted";

/// Arguments of `gamemaster play`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    game: String,
    /// Players, one for each role, in the order of the roles
    #[arg(required = true)]
    players: Vec<String>,
    /// Give each player this time to prepare, before it is asked for the first move
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = clock)]
    start_clock: Duration,
    #[command(flatten)]
    limits: TimeLimits,
    /// End the match without scores after N steps
    #[arg(long, value_name = "N", default_value_t = MatchRules::default().step_limit, value_parser = whole_from::<u32>(0))]
    step_limit: u32,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Scramble the names in the rules for remote and launched players
    #[arg(long)]
    scramble: bool,
    #[command(flatten)]
    reading: Reading,
    /// Print what players report on their moves: candidates, values, expected lines of play, the
    /// most probable states of a belief, the beginning of a conditional plan
    #[arg(long, short)]
    verbose: bool,
    /// Print all facts that change, at full length [default: 8 per step]
    #[arg(long)]
    all_facts: bool,
    /// Print only the record of the match, as one line of JSON; with --verbose, also what players
    /// report on their moves, as `explanations`
    #[arg(long)]
    json: bool,
}

/// Carries out `gamemaster play`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let (players, notes) = typed_players(&arguments.players)?;
    let players: Vec<Contestant> = players.into_iter().map(with_time).collect();
    let source = GameSource::find(&arguments.game).map_err(Failure::game)?;
    let played = SingleMatch::new(source, arguments.reading, &players, &arguments.options())
        .map_err(Failure::experiment)?;
    notes.print()?;
    let stderr = PlayerStderr::Show;
    let supervisor = Some(OWN_EXECUTABLE.into());
    let manager = Manager::new(ManagerSettings { stderr, supervisor, ..Default::default() });
    for player in played.players() {
        manager.preflight(player).map_err(Failure::player)?;
    }
    // A person who plays must not see what the role does not.
    let is_secret = played.machine().game().kind().hidden_information
        && played.players().iter().any(|player| is_person(player));
    let cancel = Cancel::new();
    let stop = {
        let (cancel, manager) = (cancel.clone(), Arc::clone(&manager));
        move || {
            cancel.cancel();
            manager.interrupt();
        }
    };
    on_interrupt(stop).context("cannot listen for interrupts")?;
    let named = played.machine();
    let mut machine = played.machine();
    machine.set_cancel(cancel.clone());
    let catalogue = played.catalogue();
    let outcome = to_stdout(|stdout| {
        let shown = Shown::new(&mut *machine, cancel);
        let mut view = View::new(stdout, &catalogue, shown, arguments.detail(is_secret));
        let mut printed = Ok(());
        let mut explanations = (arguments.json && arguments.verbose).then(Explanations::default);
        let record = played.play(&manager, &mut |event| {
            if let Some(explanations) = &mut explanations {
                explanations.note(event, &*named);
            }
            if printed.is_ok() {
                printed = view.show(event);
                if printed.is_err() {
                    // The reader has gone away.
                    manager.interrupt();
                }
            }
        });
        printed?;
        let record = record?;
        if arguments.json {
            json_line(stdout, &Explained { record: &record, explanations })?;
        }
        Ok(code(&record))
    });
    manager.shutdown();
    outcome
}

impl Arguments {
    fn options(&self) -> MatchOptions {
        MatchOptions {
            clocks: self.limits.clocks(self.start_clock),
            nodes: self.limits.nodes,
            seed: self.seed,
            rules: MatchRules {
                step_limit: self.step_limit,
                scramble: self.scramble,
                ..MatchRules::default()
            },
        }
    }

    fn detail(&self, is_secret: bool) -> Detail {
        Detail {
            is_hidden: self.json,
            all_facts: self.all_facts,
            is_verbose: self.verbose,
            is_secret,
        }
    }
}

fn code(record: &MatchRecord) -> u8 {
    match record.ending {
        Ending::Aborted { .. } if record.ending.aborted_by_fault().is_some() => exit_code::INTERNAL,
        Ending::Aborted { .. } => exit_code::INTERRUPTED,
        Ending::GameError { .. } => exit_code::PREFLIGHT,
        _ => exit_code::OK,
    }
}

/// A person has more time than programs, unless told otherwise.
fn with_time(mut player: Contestant) -> Contestant {
    let config = &player.config;
    if is_person(config) && config.odds.play.is_none() {
        let odds = TimeOdds { play: Some(human::PLAY_CLOCK), ..config.odds };
        player.config = Arc::new(PlayerConfig { odds, ..(**config).clone() });
    }
    player
}
