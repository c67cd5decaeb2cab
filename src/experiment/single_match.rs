//! One match of one game, without a schedule, a run folder or a journal.

use std::sync::Arc;

use anyhow::anyhow;
use games::{Game, Guards, StateMachine, state_machine_for};
use results::counted::counted;
use results::record::{Budget, MatchRecord};

use super::ExperimentError;
use crate::built_in;
use crate::consumers::{Catalogue, Recorder};
use crate::event::EventKind;
use crate::fingerprint::Fingerprint;
use crate::game_source::{GameSource, Reading};
use crate::manager::{Manager, MatchRules, MatchSetup, PlayerConfig, PreparedGame};
use crate::schedule::{Clocks, Job};
use crate::spec::Contestant;

/// Settings of a single match.
#[derive(Clone, Debug)]
pub struct MatchOptions {
    /// Clocks of all players.
    pub clocks: Clocks,
    /// Nodes per move for built-in players, instead of clocks.
    pub nodes: Option<u64>,
    /// Random seed.
    pub seed: u64,
    /// Limits of the match, and how it is sent.
    pub rules: MatchRules,
}

/// A match of players that fit its game, ready to be played.
pub struct SingleMatch {
    setup: MatchSetup,
    players: Vec<Arc<PlayerConfig>>,
    machine: Box<dyn StateMachine>,
}

impl SingleMatch {
    /// Reads the game and gives its roles to the players, in the order of both; a role
    /// `random` takes none.
    ///
    /// # Errors
    /// If the rulesheet is broken, the number of players is not that of the roles, or a player
    /// cannot play the game or has a node budget beside clocks.
    pub fn new(
        source: GameSource,
        reading: Reading,
        players: &[Contestant],
        options: &MatchOptions,
    ) -> Result<Self, ExperimentError> {
        let hash = Fingerprint::of("rulesheet").text(&source.text).hex(16);
        let game = source.check(reading).loaded()?.game;
        let name = game.name().to_owned();
        let seats = seats(&game, players)?;
        if options.nodes.is_none()
            && let Some(player) = players.iter().find(|player| player.config.odds.nodes.is_some())
        {
            return Err(ExperimentError::Unplayable(format!(
                "{} has a node budget, but the match has clocks; give --nodes too",
                player.config.id
            )));
        }
        let rules = |source| ExperimentError::Rules { game: name.clone(), source };
        let machine = state_machine_for(game, Guards::default()).map_err(rules)?;
        for player in players {
            if let Some(reason) = player.config.unsuitable(machine.fork()).map_err(rules)? {
                let id = &player.config.id;
                return Err(ExperimentError::Unplayable(format!(
                    "{id} cannot play {name}: {reason}"
                )));
            }
        }
        let game = Arc::new(PreparedGame::new(name, hash, machine.fork()));
        Ok(Self {
            setup: setup(options, game, players, seats),
            players: players.iter().map(|player| Arc::clone(&player.config)).collect(),
            machine,
        })
    }

    /// Its players, in the order of the seats.
    pub fn players(&self) -> &[Arc<PlayerConfig>] {
        &self.players
    }

    /// Names of the game and the players, as events refer to them.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        Arc::new(Catalogue::new(&[Arc::clone(&self.setup.game)], &self.players, 1))
    }

    /// A state machine of the game, to follow the match.
    pub fn machine(&self) -> Box<dyn StateMachine> {
        self.machine.fork()
    }

    /// Plays the match; `observer` gets its events as they happen.
    ///
    /// # Errors
    /// If the match ended without a record: an internal error.
    pub fn play(
        &self,
        manager: &Arc<Manager>,
        observer: &mut dyn FnMut(&EventKind),
    ) -> anyhow::Result<MatchRecord> {
        let mut recorder = Recorder::new(self.catalogue());
        let mut record = None;
        manager.worker().play(&self.setup, &mut |event| {
            if let Some(finished) = recorder.take(&event) {
                record = Some(finished);
            }
            observer(&event);
        });
        record.ok_or_else(|| anyhow!("internal error: no record of the match"))
    }
}

/// The seats: the players in order on the roles that need one.
fn seats(game: &Game, players: &[Contestant]) -> Result<Vec<Option<usize>>, ExperimentError> {
    let mut next = 0..players.len();
    let mut seats = Vec::new();
    let mut needed = Vec::new();
    for role in game.role_ids() {
        if game.random() == Some(role) {
            seats.push(None);
        } else {
            needed.push(game.symbols().name(game.roles()[usize::from(role.0)]));
            seats.push(next.next());
        }
    }
    if needed.len() != players.len() {
        let (roles, chance) = match game.random() {
            None => (["role", "roles"], None),
            Some(random) => {
                let name = game.role_name(random);
                (["role for players", "roles for players"], Some(format!("`{name}` is chance")))
            }
        };
        let names = (!needed.is_empty()).then(|| needed.join(", "));
        let about: Vec<String> = names.into_iter().chain(chance).collect();
        return Err(ExperimentError::Unplayable(format!(
            "{} has {} ({}), but {} given",
            game.name(),
            counted(needed.len(), roles[0], roles[1]),
            about.join("; "),
            counted(players.len(), "player is", "players are")
        )));
    }
    for (player, seat) in players.iter().zip(&needed) {
        if game.kind().hidden_information && !player.plays_hidden_information {
            return Err(ExperimentError::Unplayable(format!(
                "player `{}` cannot play {} (role `{seat}`): {}",
                player.config.id,
                game.name(),
                built_in::without_hidden_information()
            )));
        }
    }
    Ok(seats)
}

fn setup(
    options: &MatchOptions,
    game: Arc<PreparedGame>,
    players: &[Contestant],
    seats: Vec<Option<usize>>,
) -> MatchSetup {
    let budget = options.nodes.map_or(Budget::Clock, Budget::Nodes);
    let mut id = Fingerprint::of("single match").text(&game.hash).number(options.seed);
    for player in players {
        id = id.text(&player.config.id).text(&player.config.hash);
    }
    let configs = seats.iter().map(|seat| seat.map(|seat| Arc::clone(&players[seat].config)));
    MatchSetup {
        seats: configs.collect(),
        game,
        rules: Arc::new(options.rules.clone()),
        budget,
        concurrency: 1,
        job: Arc::new(Job {
            number: 0,
            id: id.hex(20),
            block: 0,
            lap: 0,
            rotation: 0,
            game: 0,
            seats,
            clocks: options.clocks,
            budget,
            seed: options.seed,
            round: None,
        }),
    }
}
