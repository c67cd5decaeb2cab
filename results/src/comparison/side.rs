//! One of two runs that are compared: its blocks, by what they have in common
//! with those of other runs.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::files;
use crate::histogram::Histogram;
use crate::journal::{Journal, JournalError, MatchRow};
use crate::record::{Clock, Header};

/// What makes blocks of two runs the same experiment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockKey {
    pub(super) game: Arc<str>,
    pub(super) clock: Clock,
    /// Ascending.
    pub(super) players: Vec<Arc<str>>,
    pub(super) lap: u32,
}

/// The matches of one block.
#[derive(Debug)]
pub(super) struct Block {
    /// Number in the schedule.
    pub(super) number: u64,
    pub(super) seed: String,
    pub(super) n_matches: u32,
    pub(super) sittings: Vec<Sitting>,
}

/// One player in one match.
#[derive(Debug)]
pub(super) struct Sitting {
    pub(super) player: Arc<str>,
    pub(super) role: u32,
    /// `None` if the match is unscored.
    pub(super) reward: Option<u8>,
    /// It committed a fault.
    pub(super) faulty: bool,
}

/// A run.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) header: Header,
    pub(super) n_matches: u64,
    pub(super) blocks: BTreeMap<BlockKey, Block>,
    /// Hashes of each game's rulesheet.
    pub(super) games: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// Hashes of each player's configuration.
    pub(super) players: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// Think times of choices, microseconds, by player and game.
    pub(super) think_us: BTreeMap<(Arc<str>, Arc<str>), Histogram>,
    names: HashMap<String, Arc<str>>,
}

impl Side {
    /// Reads the run in a folder.
    pub(super) fn read(run: &Path) -> Result<Self, JournalError> {
        let journal = Journal::open(&run.join(files::JOURNAL))?;
        let mut side = Self::of(journal.header().clone());
        let header = side.header.clone();
        journal.index()?.render(
            |records| {
                let mut part = Self::of(header.clone());
                records.each_row(|row| {
                    part.add(row);
                    Ok(())
                })?;
                Ok::<_, JournalError>(part)
            },
            |part| {
                side.merge(part);
                Ok(())
            },
        )?;
        Ok(side)
    }

    /// A run without matches.
    fn of(header: Header) -> Self {
        Self {
            header,
            n_matches: 0,
            blocks: BTreeMap::new(),
            games: BTreeMap::new(),
            players: BTreeMap::new(),
            think_us: BTreeMap::new(),
            names: HashMap::new(),
        }
    }

    /// Adds the matches of a later part of the schedule.
    fn merge(&mut self, later: Self) {
        self.n_matches += later.n_matches;
        for (game, hashes) in later.games {
            self.games.entry(game).or_default().extend(hashes);
        }
        for (player, hashes) in later.players {
            self.players.entry(player).or_default().extend(hashes);
        }
        for (key, times) in later.think_us {
            self.think_us.entry(key).or_default().merge(&times);
        }
        for (key, block) in later.blocks {
            match self.blocks.entry(key) {
                Entry::Vacant(place) => drop(place.insert(block)),
                Entry::Occupied(mut begun) => {
                    begun.get_mut().n_matches += block.n_matches;
                    begun.get_mut().sittings.extend(block.sittings);
                }
            }
        }
    }

    /// The clocks under which a game was played.
    pub(super) fn clocks(&self, game: &str) -> BTreeSet<Clock> {
        let keys = self.blocks.keys().filter(|key| &*key.game == game);
        keys.map(|key| key.clock).collect()
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = name.into();
        self.names.insert(name.to_owned(), Arc::clone(&shared));
        shared
    }

    fn add(&mut self, record: &MatchRow<'_>) {
        self.n_matches += 1;
        let game = self.name(&record.game);
        let hashes = self.games.entry(Arc::clone(&game)).or_default();
        if !hashes.contains(&*record.game_hash) {
            hashes.insert(record.game_hash.clone().into());
        }
        let mut sittings = Vec::new();
        for (role, player, seat) in record.players() {
            let player = self.name(player);
            let hashes = self.players.entry(Arc::clone(&player)).or_default();
            if !hashes.contains(&*seat.player_hash) {
                hashes.insert(seat.player_hash.clone().into());
            }
            let think_us =
                self.think_us.entry((Arc::clone(&player), Arc::clone(&game))).or_default();
            let choices = record.decisions(role).filter(|decision| decision.is_choice());
            choices.for_each(|decision| think_us.add(decision.wall_us));
            let (reward, faulty) = (record.reward(seat), record.faults(role) != [0; 6]);
            sittings.push(Sitting { player, role: role as u32, reward, faulty });
        }
        let mut players: Vec<Arc<str>> =
            sittings.iter().map(|sitting| Arc::clone(&sitting.player)).collect();
        players.sort_unstable();
        let key = BlockKey { game, clock: record.clock(), players, lap: record.lap };
        let block = self.blocks.entry(key).or_insert_with(|| Block {
            number: record.block,
            seed: record.seed.clone().into(),
            n_matches: 0,
            sittings: Vec::new(),
        });
        block.n_matches += 1;
        block.sittings.extend(sittings);
    }
}
